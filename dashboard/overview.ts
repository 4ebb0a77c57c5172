import { sparkline } from './charts.js';
import { el, setText } from './dom.js';
import type { Live } from './live.js';
import { bytes, count, percent, rate, time } from './numbers.js';
import { problemsOf } from './problems.js';
import type { Part } from './sections.js';
import type { Series } from './types.js';

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
      list.replaceChildren(...problems.map((problem) => el('li', { class: `pill ${problem.look}` }, problem.text)));
    },
  };
}

interface Tile {
  readonly name: string;
  readonly value: (series: Series, live: Live) => readonly [value: string, unit: string, note: string, look?: string];
  readonly points: (series: Series) => readonly number[];
}

const last = (list: readonly number[]): number => list.at(-1) ?? 0;
const added = (lists: readonly (readonly number[])[]): number[] =>
  (lists[0] ?? []).map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0));

const TILES: readonly Tile[] = [
  {
    name: 'Requests',
    value: ({ classes }) => [rate(last(added(classes))), '/s', ''],
    points: ({ classes }) => added(classes),
  },
  {
    name: 'Errors (5xx)',
    value({ classes }) {
      const all = last(added(classes.slice(0, 5)));
      const share = all === 0 ? 0 : last(classes[4]!) / all;
      const clients = all === 0 ? 0 : last(classes[3]!) / all;
      return [percent(share), '', `4xx ${percent(clients)}`, share >= 0.01 ? 'bad' : ''];
    },
    points: ({ classes }) => classes[4]!,
  },
  {
    name: 'Response time, p95',
    value: ({ quantiles }) => [time(last(quantiles[1]!)), '', `p50 ${time(last(quantiles[0]!))}, p99 ${time(last(quantiles[2]!))}`],
    points: ({ quantiles }) => quantiles[1]!,
  },
  {
    name: 'Connections',
    value: ({ connections }) => [
      count(last(added(connections))),
      '',
      `${count(last(connections[0]!))} active, ${count(last(connections[1]!))} idle`,
    ],
    points: ({ connections }) => added(connections),
  },
  {
    name: 'Sent',
    value: ({ sent, received }) => {
      const [value, unit] = bytes(last(sent)).split(' ') as [string, string];
      return [value, `${unit}/s`, `received ${bytes(last(received))}/s`];
    },
    points: ({ sent }) => sent,
  },
];

/** The most important numbers of this moment. */
export function tilesPart(): Part {
  const root = el('dl', { class: 'tiles' });
  const shown = TILES.map((tile) => {
    const value = el('span');
    const unit = el('small');
    const note = el('div', { class: 'soft' });
    const spark = el('div');
    const box = el(
      'div',
      { class: 'tile' },
      el('dt', {}, tile.name),
      el('dd', {}, el('div', { class: 'value' }, value, unit), note, spark),
    );
    root.append(box);
    return { tile, value, unit, note, spark, box };
  });
  return {
    root,
    update(_state, live) {
      const { series } = live;
      for (const { tile, value, unit, note, spark, box } of shown) {
        const [text, word, more, look] = tile.value(series, live);
        setText(value, text);
        setText(unit, word);
        setText(note, more || ' ');
        box.className = `tile ${look ?? ''}`;
        spark.replaceChildren(sparkline(tile.points(series).slice(-60)));
      }
    },
  };
}
