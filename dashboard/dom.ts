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

/** A cell: its text, and how it looks; or an element that shows it. */
export type Cell = string | { readonly text: string; readonly look?: string } | { readonly key: string; readonly make: () => Node };

export interface Column {
  readonly title: string;
  /** Left-aligned, or wrapped. */
  readonly look?: 'text' | 'text wrap';
}

/** A table whose rows stay the same elements from one update to the next: whoever works with the keyboard keeps the place. */
export class Table {
  readonly root: HTMLElement;
  readonly #body: HTMLElement;
  readonly #columns: readonly Column[];
  readonly #rows = new Map<string, { readonly row: HTMLElement; readonly shown: string[] }>();
  readonly #empty: HTMLElement;
  readonly #scroll: HTMLElement;

  constructor(label: string, columns: readonly Column[], empty: string) {
    this.#columns = columns;
    this.#body = el('tbody');
    const head = el('tr', {}, ...columns.map(({ title, look }) => el('th', { scope: 'col', class: look ?? '' }, headingOf(title))));
    const table = el('table', {}, el('caption', { class: 'hidden' }, label), el('thead', {}, head), this.#body);
    this.#scroll = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
    this.#empty = el('p', { class: 'empty' }, empty);
    this.root = el('div', {}, this.#scroll, this.#empty);
  }

  /** Shows these rows: a key, and the cells; the first one is the row's heading. */
  update(rows: readonly (readonly [key: string, cells: readonly Cell[]])[]): void {
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

  #show(at: HTMLElement, shown: string[], i: number, cell: Cell): void {
    const look = typeof cell === 'object' && 'text' in cell ? (cell.look ?? '') : '';
    const text = typeof cell === 'string' ? cell : 'text' in cell ? cell.text : cell.key;
    const mark = `${look}\n${text}`;
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
