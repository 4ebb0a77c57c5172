import { type Figures, figuresBetween, figuresOfPast } from './figures.js';
import { quantile } from './numbers.js';
import type { Past, Series, State, Zone } from './types.js';

/** So many points of two seconds are kept for the live charts. */
const POINTS = 150;

interface Totals {
  readonly classes: number[];
  readonly received: number;
  readonly sent: number;
  readonly buckets: number[];
}

/** What the page has seen since it was opened: rates come from differences. */
export class Live {
  readonly #states: State[] = [];
  /** What the server has told of the past, where the window is longer than what the page has seen. */
  past: Past | undefined = undefined;
  /** The lists of the charts that are shown. */
  shown: Series;
  readonly series: Series = {
    step: 2,
    at: [],
    classes: [[], [], [], [], [], []],
    quantiles: [[], [], []],
    connections: [[], []],
    received: [],
    sent: [],
  };

  constructor() {
    this.shown = this.series;
  }

  add(state: State): void {
    const before = this.#states.at(-1);
    this.#states.push(state);
    if (this.#states.length > POINTS + 1) {
      this.#states.shift();
    }
    if (before === undefined || state.now <= before.now) {
      return;
    }
    const seconds = (state.now - before.now) / 1000;
    const [now, was] = [totals(state), totals(before)];
    const { series } = this;
    const add = (list: number[], n: number): void => {
      list.push(n);
      if (list.length > POINTS) {
        list.shift();
      }
    };
    add(series.at, state.now / 1000);
    for (const [i, list] of series.classes.entries()) {
      add(list, Math.max(0, now.classes[i]! - was.classes[i]!) / seconds);
    }
    const counts = now.buckets.map((n, i) => Math.max(0, n - was.buckets[i]!));
    for (const [i, q] of [0.5, 0.95, 0.99].entries()) {
      add(series.quantiles[i]!, quantile(counts, q));
    }
    add(series.connections[0]!, state.connections.active);
    add(series.connections[1]!, state.connections.idle);
    add(series.received, Math.max(0, now.received - was.received) / seconds);
    add(series.sent, Math.max(0, now.sent - was.sent) / seconds);
  }

  /** All figures of the window that is shown. */
  get figures(): Figures {
    const seen = figuresBetween(this.#states[0]!, this.#states.at(-1)!);
    return this.past === undefined ? seen : figuresOfPast(this.past, seen.locations);
  }

  /** What the page has seen itself, for what the server keeps no past of. */
  get seen(): Pick<Figures, 'name' | 'seconds' | 'locations'> {
    return figuresBetween(this.#states[0]!, this.#states.at(-1)!);
  }

  /** How much a number grows a second, by what the page has seen. */
  rate(of: (state: State) => number | undefined): number {
    const [first, last] = [this.#states[0], this.#states.at(-1)];
    if (first === undefined || last === undefined || first.now >= last.now) {
      return 0;
    }
    const [a, b] = [of(first), of(last)];
    return a === undefined || b === undefined ? 0 : (Math.max(0, b - a) / (last.now - first.now)) * 1000;
  }

  /** How much a list of numbers grew in what the page has seen. */
  growth(of: (state: State) => readonly number[] | undefined): number[] {
    const [first, last] = [this.#states[0], this.#states.at(-1)];
    const [a, b] = [first === undefined ? undefined : of(first), last === undefined ? undefined : of(last)];
    return (b ?? []).map((n, i) => Math.max(0, n - (a === undefined || first === last ? n : a[i]!)));
  }
}

function totals(state: State): Totals {
  const all = Object.values(state.servers);
  const sum = (of: (zone: Zone) => number): number => all.reduce((total, zone) => total + of(zone), 0);
  return {
    classes: [
      ...(['1xx', '2xx', '3xx', '4xx', '5xx'] as const).map((name) => sum(({ responses }) => responses[name])),
      sum(({ discarded }) => discarded),
    ],
    received: sum(({ received }) => received),
    sent: sum(({ sent }) => sent),
    buckets: Array.from({ length: 38 }, (_, i) => sum(({ buckets }) => buckets[i] ?? 0)),
  };
}
