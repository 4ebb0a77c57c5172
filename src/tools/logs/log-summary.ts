import { ownText } from '../../shared/text/own-text.js';
import { BUCKETS, bucketOf, quantile } from '../../shared/zone/histogram.js';
import { fieldOf, type ReadField } from './log-line.js';

/** How many different paths, addresses and reasons are told apart; what comes behind them is counted together. */
const MOST_NAMES = 100_000;
const SHOWN = 10;
const OTHERS = '(others)';

interface PathTimes {
  count: number;
  sum: number;
  max: number;
}

/** What lines of access logs say together. */
export class LogSummary {
  #lines = 0;
  #unread = 0;
  #bytes = 0;
  #first = '';
  #last = '';
  #timed = 0;
  readonly #times = new Float64Array(BUCKETS);
  readonly #statuses = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #paths = new Map<string, PathTimes>();

  add(read: ReadField): void {
    this.#lines++;
    const when = fieldOf(read, 'when');
    if (when !== undefined) {
      this.#first = this.#first === '' ? when : this.#first;
      this.#last = when;
    }
    this.#bytes += Number(fieldOf(read, 'bytes')) || 0;
    increase(this.#statuses, fieldOf(read, 'status') ?? '-');
    increase(this.#addresses, fieldOf(read, 'address') ?? '-');
    const reason = fieldOf(read, 'reason');
    if (reason !== undefined && reason !== '' && reason !== '-') {
      increase(this.#reasons, reason);
    }
    const seconds = Number(fieldOf(read, 'time'));
    this.#path(fieldOf(read, 'path') ?? '-', Number.isFinite(seconds) ? seconds : undefined);
  }

  /** A line that has another form. */
  addUnread(): void {
    this.#unread++;
  }

  #path(path: string, seconds: number | undefined): void {
    const name = this.#paths.size < MOST_NAMES || this.#paths.has(path) ? path : OTHERS;
    let known = this.#paths.get(name);
    if (known === undefined) {
      this.#paths.set(ownText(name), (known = { count: 0, sum: 0, max: 0 }));
    }
    known.count++;
    if (seconds !== undefined) {
      this.#timed++;
      this.#times[bucketOf(seconds * 1000)]!++;
      known.sum += seconds;
      known.max = Math.max(known.max, seconds);
    }
  }

  /** As lines of plain text. */
  lines(): string[] {
    const paths = [...this.#paths];
    const lines = [
      `${this.#lines} requests, ${bytesText(this.#bytes)}${this.#first === '' ? '' : `, from ${this.#first} to ${this.#last}`}`,
    ];
    if (this.#unread > 0) {
      lines.push(`${this.#unread} lines have another form`);
    }
    if (this.#timed > 0) {
      const of = (q: number): string => `${(quantile(this.#times, q) / 1000).toFixed(3)} s`;
      lines.push(`times: p50 ${of(0.5)}, p95 ${of(0.95)}, p99 ${of(0.99)}`);
    }
    lines.push(
      ...table(
        'statuses',
        [...this.#statuses].sort(([a], [b]) => (a < b ? -1 : 1)),
        this.#lines,
      ),
    );
    lines.push(...table('paths', top(paths.map(([path, { count }]) => [path, count])), this.#lines));
    if (this.#timed > 0) {
      const slow = paths.filter(([, { sum }]) => sum > 0).sort(([, a], [, b]) => b.sum / b.count - a.sum / a.count);
      lines.push('', 'slowest paths: mean, longest, requests');
      for (const [path, { count, sum, max }] of slow.slice(0, SHOWN)) {
        lines.push(`  ${(sum / count).toFixed(3).padStart(9)} s  ${max.toFixed(3).padStart(9)} s  ${String(count).padStart(9)}  ${path}`);
      }
    }
    lines.push(...table('addresses', top([...this.#addresses]), this.#lines));
    if (this.#reasons.size > 0) {
      lines.push(...table('reasons of errors', top([...this.#reasons]), this.#lines));
    }
    return lines;
  }
}

function increase(counts: Map<string, number>, name: string): void {
  const given = counts.size < MOST_NAMES || counts.has(name) ? name : OTHERS;
  const count = counts.get(given);
  counts.set(count === undefined ? ownText(given) : given, (count ?? 0) + 1);
}

const top = (counts: [string, number][]): [string, number][] => counts.sort(([, a], [, b]) => b - a).slice(0, SHOWN);

function table(title: string, rows: readonly (readonly [string, number])[], total: number): string[] {
  const share = (n: number): string => `${((n / Math.max(1, total)) * 100).toFixed(1)} %`;
  return ['', title, ...rows.map(([name, n]) => `  ${String(n).padStart(9)}  ${share(n).padStart(7)}  ${name}`)];
}

function bytesText(n: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit === 0 ? n : n.toFixed(1)} ${units[unit]}`;
}
