// The view of the configuration: what is in force, how the last reload went, what served before, and what is different about it.
import { el, section, setText, Table } from './dom.js';
import { compareLines, hunks, type Line } from './lines.js';
import { span } from './numbers.js';
import { lineLink } from './routes.js';
import type { Configuration, Kept, Outlined, Texts } from './types.js';

/** So many lines of a file are shown. */
const MOST_LINES = 5000;
/** So many blocks of the outline are shown. */
const MOST_BLOCKS = 500;

const when = (iso: string): string => {
  const at = new Date(iso);
  return `${at.toLocaleDateString('en-CA')} ${at.toLocaleTimeString('en-GB')}`;
};

export class ConfigurationView {
  readonly root: HTMLElement;
  readonly #state = section('in-force', 'In force');
  readonly #history = section('kept', 'What served, and when');
  readonly #changes = section('changes', 'Changes');
  readonly #outline = section('outline', 'What is in it');
  readonly #files = section('files', 'Files');
  readonly #table: Table;
  #texts: Texts = { globals: '', files: [] };
  #marked: HTMLElement | undefined = undefined;

  constructor() {
    const titles = ['Number', 'Served from', 'until', 'asked for by', 'ended by', '(what was different)'];
    this.#table = new Table(
      'Configurations that served',
      titles.map((title) => ({ title, look: 'text' as const })),
      'None is kept: configuration_history is off.',
    );
    this.#history.body.append(this.#table.root);
    this.#changes.root.hidden = true;
    this.root = el(
      'div',
      { class: 'view' },
      ...[this.#state, this.#history, this.#changes, this.#outline, this.#files].map(({ root }) => root),
    );
  }

  update(configuration: Configuration, now: number): void {
    const { service, history, entry, outline } = configuration;
    this.#texts = configuration;
    const about = [
      `configuration ${service.generation} since this master started, loaded ${span(now - service.loadedAt)} ago from ${entry}`,
    ];
    if (history?.serving != null) {
      about.push(`kept as number ${history.serving}${history.rolledBack ? ', by a rollback: the files may say something else' : ''}`);
    }
    setText(this.#state.note, about.join('; '));
    this.#state.body.replaceChildren(...lastReload(configuration, now));
    this.#table.update(
      [...(history?.kept ?? [])]
        .reverse()
        .map((kept): [string, ReturnType<typeof keptCells>] => [
          `${kept.id}`,
          keptCells(kept, history?.serving ?? null, (id) => void this.#compare(id)),
        ]),
    );
    let left = MOST_BLOCKS;
    const tree = (blocks: readonly Outlined[]): HTMLElement[] =>
      blocks.flatMap((block) =>
        left-- <= 0
          ? []
          : [
              el(
                'li',
                {},
                lineLink(block.text, block),
                ...(block.upstream === undefined ? [] : [' → ', upstreamLink(block.upstream, outline.upstreams)]),
                ...(block.inside.length === 0 ? [] : [el('ul', {}, ...tree(block.inside))]),
              ),
            ],
      );
    const all = [...outline.servers, ...outline.upstreams, ...outline.stream.servers, ...outline.stream.upstreams];
    this.#outline.body.replaceChildren(el('ul', { class: 'tree' }, ...tree(all)));
    setText(this.#outline.note, left < 0 ? `the first ${MOST_BLOCKS} blocks` : 'a link leads to the line');
    this.#showFiles();
  }

  #showFiles(): void {
    const { globals, files } = this.#texts;
    setText(this.#files.note, 'passwords, keys and tokens are hidden');
    this.#files.body.replaceChildren(
      ...(globals === '' ? [] : [el('p', {}, 'By -g: ', el('code', {}, globals))]),
      ...files.map(({ path, text }, i) => {
        const lines = text?.split('\n') ?? [];
        if (lines.at(-1) === '') {
          lines.pop();
        }
        const rows = lines.slice(0, MOST_LINES).map((line, at) => codeLine(line, at + 1, '', path));
        const note = text === null ? 'too much to show' : lines.length > MOST_LINES ? `the first ${MOST_LINES} lines` : '';
        return el(
          'details',
          { 'data-path': path, ...(i === 0 ? { open: '' } : {}) },
          el('summary', {}, path, ' ', el('span', { class: 'soft' }, note)),
          el('div', { class: 'code', tabindex: '0', role: 'region', 'aria-label': path }, ...rows),
        );
      }),
    );
  }

  /** Leads to a line, `FILE:LINE`. */
  lead(place: string): void {
    const [, path, line] = /^(.*):(\d+)$/.exec(place) ?? [];
    const file = [...this.#files.body.querySelectorAll('details')].find((each) => each.dataset['path'] === path);
    const row = file?.querySelectorAll<HTMLElement>('.line')[Number(line) - 1];
    if (file === undefined || row === undefined) {
      return;
    }
    file.open = true;
    this.#marked?.classList.remove('marked');
    row.classList.add('marked');
    this.#marked = row;
    row.scrollIntoView({ block: 'center' });
  }

  async #compare(id: number): Promise<void> {
    const { root, note, body } = this.#changes;
    root.hidden = false;
    setText(note, `from number ${id} to what is in force`);
    const answer = await fetch(`configuration?kept=${id}`, { cache: 'no-store' });
    const kept: Texts | null = answer.ok ? await answer.json() : null;
    if (kept === null) {
      body.replaceChildren(el('p', { class: 'empty' }, 'It is not kept any more.'));
      return;
    }
    const found = differences(kept, this.#texts);
    body.replaceChildren(...(found.length === 0 ? [el('p', { class: 'empty' }, 'The files are the same.')] : found));
    root.scrollIntoView({ block: 'start' });
  }
}

function upstreamLink(name: string, upstreams: readonly Outlined[]): HTMLElement | string {
  const block = upstreams.find(({ zone }) => zone === name);
  return block === undefined ? name : lineLink(`upstream ${name}`, block);
}

function lastReload({ history, service }: Configuration, now: number): HTMLElement[] {
  const reload = history?.reload;
  if (reload == null) {
    const refused = service.refusedAt > 0;
    const text = refused
      ? `The last reload, ${span(now - service.refusedAt)} ago, failed; the log says why.`
      : 'No reload since the start.';
    return [el('p', {}, el('span', { class: `pill ${refused ? 'bad' : 'idle'}` }, refused ? 'refused' : 'started'), ' ', text)];
  }
  const look = reload.outcome === 'done' ? 'ok' : reload.outcome === 'refused' ? 'bad' : 'warn';
  const by = reload.by === null ? '' : `, asked for by ${reload.by}`;
  return [
    el('p', {}, 'Last reload: ', el('span', { class: `pill ${look}` }, reload.outcome), ` ${when(reload.at)}${by}`),
    ...(reload.text === '' ? [] : [el('pre', { class: 'message' }, reload.text)]),
  ];
}

function keptCells({ id, periods }: Kept, serving: number | null, compare: (id: number) => void) {
  const last = periods.at(-1);
  return [
    `${id}`,
    last === undefined ? '' : when(last.from),
    last?.until == null ? (id === serving ? { key: 'ok now', make: () => el('span', { class: 'pill ok' }, 'now') } : '') : when(last.until),
    last?.by ?? '',
    { text: last?.why ?? '', look: 'wrap' },
    id === serving
      ? ''
      : {
          key: `compare ${id}`,
          make() {
            const button = el('button', { type: 'button', 'aria-label': `Changes from number ${id}` }, 'Changes');
            button.addEventListener('click', () => compare(id));
            return button;
          },
        },
  ];
}

/** A line of a file with its number, which is a link to it. */
function codeLine(text: string, number: number, look: string, path?: string): HTMLElement {
  const at = path === undefined ? el('span', { class: 'number' }, `${number}`) : lineLink(`${number}`, { file: path, line: number });
  at.classList.add('number');
  return el('div', { class: `line ${look}`.trim() }, at, el('code', {}, text === '' ? ' ' : text));
}

/** The files that are different, each with its changed lines. */
function differences(before: Texts, after: Texts): HTMLElement[] {
  const old = new Map(before.files.map(({ path, text }) => [path, text]));
  const now = new Map(after.files.map(({ path, text }) => [path, text]));
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  const all = [['-g', before.globals, after.globals], ...paths.map((path) => [path, old.get(path) ?? '', now.get(path) ?? ''])] as const;
  return all.flatMap(([path, a, b]) => {
    const lines = hunks(compareLines(a!, b!));
    const word = !old.has(path!) && path !== '-g' ? ' (new)' : !now.has(path!) && path !== '-g' ? ' (no longer read)' : '';
    return lines.length === 0 ? [] : [el('h3', {}, `${path}${word}`), el('div', { class: 'code' }, ...lines.map(changedLine))];
  });
}

function changedLine(line: Line | undefined): HTMLElement {
  if (line === undefined) {
    return el('div', { class: 'line gap' }, el('code', {}, '…'));
  }
  const { sign, text, number } = line;
  return codeLine(`${sign} ${text}`, number, sign === '+' ? 'added' : sign === '-' ? 'taken' : '');
}
