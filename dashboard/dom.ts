// Small helpers to make and update elements. Text is only ever set as text, never as markup.

type Attributes = Readonly<Record<string, string>>;
export type Child = Node | string;

/** Makes an element. */
export function el(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Sets a text if it is another one: so that nothing is drawn anew without need. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** A section with a heading and what the caller puts in. */
export function section(
  id: string,
  title: string,
  width: '' | 'half' | 'third' = '',
): { root: HTMLElement; note: HTMLElement; body: HTMLElement } {
  const note = el('span', { class: 'soft' });
  const body = el('div');
  const heading = el('h2', { id: `${id}-title` }, title, ' ', note);
  return { root: el('section', { id, class: width, 'aria-labelledby': `${id}-title` }, heading, body), note, body };
}

/** A cell: its text, and how it looks; or an element that shows it, made anew when `key` or `mark` is another one. */
export type Cell =
  | string
  | { readonly text: string; readonly look?: string }
  | { readonly key: string; readonly mark?: string; readonly make: () => Node };

type Rows = readonly (readonly [key: string, cells: readonly Cell[]])[];

export interface Column {
  readonly title: string;
  /** Left-aligned, or wrapped. */
  readonly look?: 'text' | 'text wrap';
}

/** What all tables show: rows with this text, and of those, rows with a failure, if that is asked for. */
const shownRows = { text: '', failed: false };

export function filterTables(text: string, failed: boolean): void {
  shownRows.text = text.trim().toLowerCase();
  shownRows.failed = failed;
}

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : 'text' in cell ? cell.text : cell.key);
const isBad = (cell: Cell): boolean => typeof cell === 'object' && ('text' in cell ? cell.look === 'bad' : cell.key.startsWith('bad '));

const FACTORS: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, s: 1e3, ms: 1 };

/** Texts in their order: numbers with their units by size, others by their letters. */
function compare(a: string, b: string): number {
  const number = (text: string): number => {
    const [, n, unit = ''] = /^(-?[\d.,]+) ?([A-Za-z]*)/.exec(text) ?? [];
    return n === undefined ? Number.NaN : Number(n.replaceAll(',', '')) * (FACTORS[unit] ?? 1);
  };
  const [x, y] = [number(a), number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a.localeCompare(b) : x - y;
}

/** A table whose rows stay the same elements from one update to the next: whoever works with the keyboard keeps the place. */
export class Table {
  readonly root: HTMLElement;
  readonly #body: HTMLElement;
  readonly #columns: readonly Column[];
  readonly #rows = new Map<string, { readonly row: HTMLElement; readonly shown: string[] }>();
  readonly #empty: HTMLElement;
  readonly #scroll: HTMLElement;
  readonly #heads: readonly HTMLElement[];
  readonly #none: string;
  #all: Rows = [];
  /** The column that rows are sorted by, and whether the greatest comes first. */
  #sorted: { readonly column: number; readonly down: boolean } | undefined = undefined;

  constructor(label: string, columns: readonly Column[], empty: string) {
    this.#columns = columns;
    this.#body = el('tbody');
    this.#heads = columns.map(({ title, look }, i) => {
      if (title.startsWith('(')) {
        return el('th', { scope: 'col', class: look ?? '' }, headingOf(title));
      }
      const button = el('button', { type: 'button', class: 'sort' }, title);
      button.addEventListener('click', () => this.#sortBy(i));
      return el('th', { scope: 'col', class: look ?? '' }, button);
    });
    const head = el('tr', {}, ...this.#heads);
    const table = el('table', {}, el('caption', { class: 'hidden' }, label), el('thead', {}, head), this.#body);
    this.#scroll = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
    this.#none = empty;
    this.#empty = el('p', { class: 'empty' }, empty);
    this.root = el('div', {}, this.#scroll, this.#empty);
  }

  /** Shows these rows: a key, and the cells; the first one is the row's heading. */
  update(all: Rows): void {
    this.#all = all;
    const rows = this.#chosen(all);
    setText(this.#empty, all.length > 0 ? 'No row is like this.' : this.#none);
    this.#scroll.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    const keys = new Set(rows.map(([key]) => key));
    for (const [key, { row }] of this.#rows) {
      if (!keys.has(key)) {
        row.remove();
        this.#rows.delete(key);
      }
    }
    let before: ChildNode | null = this.#body.firstChild;
    for (const [key, cells] of rows) {
      let known = this.#rows.get(key);
      if (known === undefined) {
        known = { row: el('tr'), shown: [] };
        for (let i = 0; i < cells.length; i++) {
          known.row.append(i === 0 ? el('th', { scope: 'row' }) : el('td'));
        }
        this.#rows.set(key, known);
      }
      if (known.row !== before) {
        this.#body.insertBefore(known.row, before);
      } else {
        before = before.nextSibling;
      }
      for (const [i, cell] of cells.entries()) {
        this.#show(known.row.children[i] as HTMLElement, known.shown, i, cell);
      }
    }
  }

  #chosen(all: Rows): Rows {
    const { text, failed } = shownRows;
    const rows = all.filter(
      ([, cells]) => (text === '' || cells.some((cell) => textOf(cell).toLowerCase().includes(text))) && (!failed || cells.some(isBad)),
    );
    const by = this.#sorted;
    const order = by === undefined ? 0 : by.down ? -1 : 1;
    return by === undefined ? rows : rows.sort(([, a], [, b]) => order * compare(textOf(a[by.column]!), textOf(b[by.column]!)));
  }

  /** First the greatest number or the first name, then the other way round, then as it was. */
  #sortBy(column: number): void {
    const down = column > 0;
    const was = this.#sorted;
    this.#sorted = was?.column !== column ? { column, down } : was.down === down ? { column, down: !down } : undefined;
    for (const [i, head] of this.#heads.entries()) {
      if (this.#sorted?.column === i) {
        head.setAttribute('aria-sort', this.#sorted.down ? 'descending' : 'ascending');
      } else {
        head.removeAttribute('aria-sort');
      }
    }
    this.update(this.#all);
  }

  #show(at: HTMLElement, shown: string[], i: number, cell: Cell): void {
    const look = typeof cell === 'object' && 'text' in cell ? (cell.look ?? '') : '';
    const text = typeof cell === 'string' ? cell : 'text' in cell ? cell.text : cell.key;
    const mark = `${look}\n${text}\n${typeof cell === 'object' && 'make' in cell ? (cell.mark ?? '') : ''}`;
    if (shown[i] === mark) {
      return;
    }
    shown[i] = mark;
    at.className = `${this.#columns[i]?.look ?? ''} ${look}`.trim();
    if (typeof cell === 'object' && 'make' in cell) {
      at.replaceChildren(cell.make());
    } else {
      at.textContent = text;
    }
  }
}

/** A title in brackets is for those who hear the table; the others see what the column is. */
const headingOf = (title: string): Child => (title.startsWith('(') ? el('span', { class: 'hidden' }, title.slice(1, -1)) : title);

/** A word on a coloured ground. */
export const pill = (text: string, look: 'ok' | 'warn' | 'bad' | 'idle'): Cell => ({
  key: `${look} ${text}`,
  make: () => el('span', { class: `pill ${look}` }, text),
});

/** A bar of shares, each with its colour's class. `label` says the same in words. */
export function bar(parts: readonly (readonly [share: number, look: string])[], label: string): Cell {
  const rounded = parts.map(([share, look]) => [Math.max(0, Math.min(100, Math.round(share * 1000) / 10)), look] as const);
  return {
    key: JSON.stringify([rounded, label]),
    make() {
      const root = el('span', { class: 'bar', role: 'img', 'aria-label': label, title: label });
      for (const [percent, look] of rounded) {
        const piece = el('i', { class: look });
        piece.style.width = `${percent}%`;
        root.append(piece);
      }
      return root;
    },
  };
}
