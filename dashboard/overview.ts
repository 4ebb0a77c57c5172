import { sparkline } from './charts.js';
import { el, setText } from './dom.js';
import type { Figures } from './figures.js';
import { bytes, count, percent, quantile, rate, time } from './numbers.js';
import { problemsOf } from './problems.js';
import type { Part } from './sections.js';
import type { Series, State } from './types.js';

/** The first thing to read: whether all is well. */
export function statePart(): Part {
  const heading = el('h2', { id: 'state-title' }, 'Asking the server');
  const list = el('ul');
  const root = el('section', { id: 'state', 'aria-labelledby': 'state-title', role: 'status' }, heading, list);
  let shown = '';
  return {
    root,
    update(state, live) {
      const problems = problemsOf(state, live);
      const worst = problems[0]?.look ?? 'ok';
      const text = problems.length === 0 ? 'All is well' : `${problems.length} thing${problems.length === 1 ? '' : 's'} to look at`;
      const mark = JSON.stringify([text, problems]);
      if (mark === shown) {
        return;
      }
      shown = mark;
      root.className = worst;
      setText(heading, text);
      list.replaceChildren(
        ...problems.map((problem) =>
          el(
            'li',
            { class: `pill ${problem.look}` },
            problem.href === undefined ? problem.text : el('a', { href: problem.href }, problem.text),
          ),
        ),
      );
    },
  };
}

interface Tile {
  readonly name: string;
  readonly value: (series: Series, figures: Figures, state: State) => readonly [value: string, unit: string, note: string, look?: string];
  readonly points: (series: Series) => readonly number[];
}

const answered = (classes: readonly number[]): number => classes.reduce((sum, n) => sum + n, 0);
const added = (lists: readonly (readonly number[])[]): number[] =>
  (lists[0] ?? []).map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0));

const TILES: readonly Tile[] = [
  {
    name: 'Requests',
    value: (_series, { total, seconds }) => [
      rate((answered(total.classes) + total.lost) / seconds),
      '/s',
      `${count(total.requests)} in all`,
    ],
    points: ({ classes }) => added(classes),
  },
  {
    name: 'Errors (5xx)',
    value(_series, { total: { classes } }) {
      const all = answered(classes);
      const share = (i: number): number => (all === 0 ? 0 : classes[i]! / all);
      return [percent(share(4)), '', `4xx ${percent(share(3))}`, share(4) >= 0.01 ? 'bad' : ''];
    },
    points: ({ classes }) => classes[4]!,
  },
  {
    name: 'Response time, p95',
    value(_series, { total: { buckets } }) {
      const of = (q: number): string => time(quantile(buckets, q));
      return [of(0.95), '', `p50 ${of(0.5)}, p99 ${of(0.99)}`];
    },
    points: ({ quantiles }) => quantiles[1]!,
  },
  {
    name: 'Connections now',
    value: (_series, _figures, { connections: { active, idle } }) => [
      count(active + idle),
      '',
      `${count(active)} active, ${count(idle)} idle`,
    ],
    points: ({ connections }) => added(connections),
  },
  {
    name: 'Sent',
    value(_series, { total, seconds }) {
      const [value, unit] = bytes(total.sent / seconds).split(' ') as [string, string];
      return [value, `${unit}/s`, `received ${bytes(total.received / seconds)}/s`];
    },
    points: ({ sent }) => sent,
  },
];

/** The most important numbers of the window. */
export function tilesPart(): Part {
  const root = el('dl', { class: 'tiles' });
  const shown = TILES.map((tile) => {
    const value = el('span');
    const window = el('span');
    const unit = el('small');
    const note = el('div', { class: 'soft' });
    const spark = el('div');
    const box = el(
      'div',
      { class: 'tile' },
      el('dt', {}, tile.name, window),
      el('dd', {}, el('div', { class: 'value' }, value, unit), note, spark),
    );
    root.append(box);
    return { tile, value, unit, note, spark, box, window };
  });
  return {
    root,
    update(state, live) {
      const { shown: series, figures } = live;
      for (const { tile, value, unit, note, spark, box, window } of shown) {
        const [text, word, more, look] = tile.value(series, figures, state);
        setText(window, tile.name.endsWith('now') ? '' : `, ${figures.name}`);
        setText(value, text);
        setText(unit, word);
        setText(note, more || ' ');
        box.className = `tile ${look ?? ''}`;
        spark.replaceChildren(sparkline(tile.points(series).slice(-300)));
      }
    },
  };
}
