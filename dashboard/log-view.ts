// The view of the error log: its last lines, or those with a text.
import { el, section, setText } from './dom.js';

/** So many lines are shown: the last ones. */
const MOST = 500;
const FAILED = /\[(?:error|crit|alert|emerg)\]/;

interface Log {
  readonly path: string;
  readonly lines: readonly string[];
}

export class LogView {
  readonly root: HTMLElement;
  readonly #section = section('log-lines', 'Error log');
  #log: Log | null = null;
  #shown = '';

  constructor() {
    this.root = el('div', { class: 'view' }, this.#section.root);
  }

  async refresh(): Promise<void> {
    const answer = await fetch('log', { cache: 'no-store' });
    this.#log = answer.ok ? await answer.json() : null;
  }

  /** Shows the lines with a text, and of those the ones that are errors, if that is asked for. */
  show(text: string, failed: boolean): void {
    const { note, body } = this.#section;
    if (this.#log === null) {
      setText(note, '');
      body.replaceChildren(el('p', { class: 'empty' }, 'No error log is a file that the master can read.'));
      this.#shown = '';
      return;
    }
    const { path, lines } = this.#log;
    const wanted = text.trim().toLowerCase();
    const found = lines.filter((line) => line.toLowerCase().includes(wanted) && (!failed || FAILED.test(line)));
    const last = found.slice(-MOST);
    const mark = `${wanted}\n${failed}\n${last.length}\n${last.at(-1) ?? ''}\n${lines.length}`;
    if (mark === this.#shown) {
      return;
    }
    this.#shown = mark;
    const which = wanted === '' ? '' : ` with "${text.trim()}"`;
    setText(
      note,
      `${path}: ${last.length} of its last ${lines.length} lines${which}, the newest first; values of secret arguments are hidden`,
    );
    body.replaceChildren(
      last.length === 0
        ? el('p', { class: 'empty' }, 'No line is like this.')
        : el(
            'div',
            { class: 'code log', tabindex: '0', role: 'region', 'aria-label': 'Lines of the error log' },
            ...last
              .reverse()
              .map((line) =>
                el('div', { class: `line ${FAILED.test(line) ? 'taken' : /\[warn\]/.test(line) ? 'gap' : ''}` }, el('code', {}, line)),
              ),
          ),
    );
  }
}
