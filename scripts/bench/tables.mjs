// Makes the tables of README.md and docs/performance.md from what `scripts/bench/run --record` has written to docs/performance.json.
// `npm run docs` puts them in, and test/meta/reference.test.ts compares.
import { rows } from './rows.mjs';

/**
 * What one server's requests of a row cost: `cpu` in microseconds, latencies in microseconds.
 * @typedef {{ cpu?: number, p50?: number, p99?: number }} Figures
 * @typedef {{ row: string, servers: Record<string, Figures>, missing?: string }} Result
 */
/**
 * A recorded run: when, where, and what came out. `node` and `nginx` are versions.
 * @typedef {{ date: string, machine: string, node: string, nginx: string, rounds: string, results: Result[] }} Recording
 */

/**
 * Rows that README.md shows, and what they are called there.
 * @type {readonly (readonly [row: string, title: string])[]}
 */
const SHOWN = [
  ['return200', '`return 200`'],
  ['static1k', 'file of 1 KB'],
  ['static64k', '64 KB'],
  ['notmod304', '304'],
  ['gzip10k', 'gzip of 10 KB'],
  ['proxy', 'proxy'],
  ['cachehit', 'cache HIT'],
  ['limits', 'limits'],
  ['jsonlog', 'JSON log'],
  ['tls', 'TLS'],
  ['h2-tls1k', 'HTTP/2 with TLS'],
  ['grpc', 'gRPC'],
];
const NONE = '–';

/** @param {readonly string[]} cells */
const line = (cells) => `| ${cells.join(' | ')} |\n`;

/** @param {readonly string[]} head */
const headOf = (head) => line(head) + `|${'---|'.repeat(head.length)}\n`;

/**
 * CPU time as a ratio to nginx's, with two digits.
 * @param {Result | undefined} result
 * @param {string} server
 */
function ratioOf(result, server) {
  const [ours, nginx] = [result?.servers[server]?.cpu, result?.servers.nginx?.cpu];
  return ours === undefined || nginx === undefined ? NONE : (ours / nginx).toFixed(2);
}

/**
 * Three digits; of less than 10, two.
 * @param {number} value
 */
const short = (value) => value.toFixed(value >= 100 ? 0 : 1);

/** @param {Figures | undefined} figures */
function latencies(figures) {
  const { p50, p99 } = figures ?? {};
  /** @param {number} microseconds */
  const text = (microseconds) => (microseconds >= 10_000 ? (microseconds / 1000).toFixed(0) : (microseconds / 1000).toFixed(1));
  return p50 === undefined || p99 === undefined || p99 === 0 ? NONE : `${text(p50)} / ${text(p99)}`;
}

/**
 * The table of README.md: some rows' ratios.
 * @param {Recording} recording
 */
export function shortTable({ results }) {
  const ratios = SHOWN.map(([row]) =>
    ratioOf(
      results.find((result) => result.row === row),
      'uring',
    ),
  );
  return headOf(SHOWN.map(([, title]) => title)) + line(ratios);
}

/**
 * The paragraph and the table of docs/performance.md: all rows that were measured.
 * @param {Recording} recording
 */
export function fullTable({ date, machine, node, nginx, rounds, results }) {
  const lines = rows.flatMap(({ name, what, goal }) => {
    const result = results.find(({ row }) => row === name);
    if (result === undefined || result.missing !== undefined) {
      return [];
    }
    const { servers } = result;
    const ratio = ratioOf(result, 'uring');
    const cpu = servers.nginx?.cpu;
    return line([
      `\`${name}\``,
      what,
      cpu === undefined ? NONE : short(cpu),
      Number(ratio) > goal ? `**${ratio}**` : ratio,
      ratioOf(result, 'libuv'),
      goal === undefined ? NONE : String(goal),
      latencies(servers.uring),
      latencies(servers.nginx),
    ]);
  });
  return (
    `Measured on ${date} with \`scripts/bench/run --record docs/performance.json\`: ${machine}, Node ${node}, nginx ${nginx}, ${rounds}.\n\n` +
    headOf(['Row', 'Work', 'nginx, µs', '`uring`', '`libuv`', 'Goal', 'p50 / p99, ms', 'nginx’s']) +
    lines.join('')
  );
}
