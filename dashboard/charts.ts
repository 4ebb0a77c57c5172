import uPlot from 'uplot';
import { el } from './dom.js';

/** One line or area of a chart. `colour` is a variable of the style sheet. */
export interface Line {
  readonly name: string;
  readonly colour: string;
}

const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A chart over time. Stacked: each line stands on those before it. */
export class Chart {
  readonly root: HTMLElement;
  readonly #place: HTMLElement;
  readonly #values: HTMLElement[];
  readonly #lines: readonly Line[];
  readonly #stacked: boolean;
  readonly #unit: (n: number) => string;
  readonly #label: string;
  readonly #whole: boolean;
  /** The ends of the axis of time, in seconds. */
  #span: readonly [number, number] = [0, 1];
  #plot: uPlot | undefined = undefined;
  #data: [number[], ...number[][]] = [[]];
  #raw: readonly (readonly number[])[] = [];

  /** `whole`: the unit has no parts, as a connection has none. */
  constructor(label: string, lines: readonly Line[], unit: (n: number) => string, stacked: boolean, whole = false) {
    this.#whole = whole;
    this.#label = label;
    this.#lines = lines;
    this.#unit = unit;
    this.#stacked = stacked;
    this.#values = lines.map(() => el('b'));
    const legend = el(
      'ul',
      { class: 'legend' },
      ...lines.map(({ name, colour }, i) => {
        const dot = el('span', { class: 'dot' });
        dot.style.background = `var(${colour})`;
        return el('li', {}, dot, `${name} `, this.#values[i]!);
      }),
    );
    this.#place = el('div', { class: 'chart', role: 'img', 'aria-label': label });
    this.root = el('div', {}, legend, this.#place);
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(this.#place);
  }

  /** Shows these points: times in seconds, and a list for each line. */
  update(at: readonly number[], lists: readonly (readonly number[])[], span: readonly [number, number]): void {
    this.#raw = lists;
    this.#span = span;
    this.#data = [[...at], ...(this.#stacked ? stack(lists) : lists.map((list) => [...list]))];
    const last = lists.map((list) => this.#unit(list.at(-1) ?? 0));
    this.#tell(last);
    this.#place.setAttribute('aria-label', `${this.#label}: ${this.#lines.map(({ name }, i) => `${name} ${last[i]}`).join(', ')}`);
    if (this.#plot === undefined) {
      this.redraw();
    } else {
      this.#plot.setData(this.#data);
    }
  }

  /** Makes the drawing anew, as after a change of colours. */
  redraw(): void {
    this.#plot?.destroy();
    const axis = { stroke: style('--soft'), grid: { stroke: style('--grid'), width: 1 }, ticks: { show: false }, font: '12px system-ui' };
    const shown = this.#lines.map(({ name, colour }): uPlot.Series => {
      const drawn = style(colour);
      return {
        label: name,
        stroke: drawn,
        width: this.#stacked ? 1 : 1.8,
        points: { show: false },
        ...(this.#stacked ? { fill: `${drawn}cc` } : {}),
      };
    });
    this.#plot = new uPlot(
      {
        ...this.#size(),
        // The last time stands half beside the chart.
        padding: [8, 26, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: !this.#stacked } },
        scales: {
          x: { range: () => [...this.#span] },
          y: { range: (_u, _min, max) => [0, Number.isFinite(max) && max > 0 ? max * 1.1 : this.#whole ? 4 : 1] },
        },
        axes: [
          { ...axis, space: 70, size: 32, values: times },
          { ...axis, size: 64, ...(this.#whole ? { incrs: WHOLE } : {}), values: (_u, all) => all.map((n) => this.#unit(n)) },
        ],
        // The tallest area of a stack is drawn first, and the others over it.
        series: [{}, ...(this.#stacked ? [...shown].reverse() : shown)],
        hooks: {
          setCursor: [
            ({ cursor }) => {
              const i = cursor.idx;
              this.#tell(this.#raw.map((list) => this.#unit((i === undefined || i === null ? list.at(-1) : list[i]) ?? 0)));
            },
          ],
        },
      },
      this.#data as uPlot.AlignedData,
      this.#place,
    );
  }

  #tell(values: readonly string[]): void {
    for (const [i, value] of this.#values.entries()) {
      value.textContent = values[i] ?? '';
    }
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(200, this.#place.clientWidth), height: this.#place.clientHeight || 210 };
  }
}

/** Steps of an axis without parts. */
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));

/** The sums from the first list on; the greatest first, as they are drawn. */
function stack(lists: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const [i, list] of lists.entries()) {
    sums.push(list.map((n, at) => n + (sums[i - 1]?.[at] ?? 0)));
  }
  return sums.reverse();
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

const times = (_u: uPlot, all: number[]): string[] => {
  const format = all.length > 1 && all[1]! - all[0]! < 60 ? exact : clock;
  return all.map((at) => format.format(at * 1000));
};

/** A small line without axes, as SVG. */
export function sparkline(points: readonly number[]): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 100 30');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  if (points.length > 1) {
    const top = Math.max(...points, 1e-9);
    const line = points.map((n, i) => `${((i / (points.length - 1)) * 100).toFixed(1)},${(28 - (n / top) * 25).toFixed(1)}`).join(' ');
    for (const [tag, all] of [
      ['polygon', `0,30 ${line} 100,30`],
      ['polyline', line],
    ] as const) {
      const shape = document.createElementNS('http://www.w3.org/2000/svg', tag);
      shape.setAttribute('points', all);
      svg.append(shape);
    }
  }
  return svg;
}
