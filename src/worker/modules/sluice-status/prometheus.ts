import { BOUNDS, BUCKETS } from '../../../shared/zone/histogram.js';

/** Names and values of labels. */
export type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];
/** One histogram: its buckets, and the sum of its times in milliseconds. */
export type Times = readonly [labels: Labels, counts: ArrayLike<number>, sumMs: number];

/** Every second bound is shown: more would be more series than anybody reads. */
const STEP = 2;

/** Writes metrics in the text format of Prometheus, or in that of OpenMetrics. */
export class MetricsText {
  readonly #open: boolean;
  #text = '';

  constructor(open: boolean) {
    this.#open = open;
  }

  /** What only grows. The name ends in `_total`. */
  counter(name: string, help: string, samples: readonly Sample[]): void {
    this.#samples(name, 'counter', help, samples);
  }

  gauge(name: string, help: string, samples: readonly Sample[]): void {
    this.#samples(name, 'gauge', help, samples);
  }

  /** Times. The name ends in `_seconds`. */
  histogram(name: string, help: string, all: readonly Times[]): void {
    if (all.length === 0) {
      return;
    }
    const full = this.#head(name, 'histogram', help);
    const seen = new Set<string>();
    for (const [labels, counts, sumMs] of all) {
      if (!isNew(seen, labels)) {
        continue;
      }
      let sum = 0;
      for (let i = 0; i < BUCKETS - 1; i++) {
        sum += counts[i]!;
        if (i % STEP === 0) {
          this.#text += `${full}_bucket${labelText({ ...labels, le: String(BOUNDS[i]! / 1000) })} ${sum}\n`;
        }
      }
      sum += counts[BUCKETS - 1]!;
      this.#text += `${full}_bucket${labelText({ ...labels, le: '+Inf' })} ${sum}\n`;
      this.#text += `${full}_sum${labelText(labels)} ${sumMs / 1000}\n${full}_count${labelText(labels)} ${sum}\n`;
    }
  }

  /** All that was written. */
  end(): string {
    return this.#open ? `${this.#text}# EOF\n` : this.#text;
  }

  #samples(name: string, type: string, help: string, samples: readonly Sample[]): void {
    if (samples.length === 0) {
      return;
    }
    const full = this.#head(name, type, help);
    const seen = new Set<string>();
    for (const [labels, value] of samples) {
      if (isNew(seen, labels)) {
        this.#text += `${full}${labelText(labels)} ${value}\n`;
      }
    }
  }

  /** A counter of OpenMetrics is called without the end that its samples have. */
  #head(name: string, type: string, help: string): string {
    const full = `sluice_${name}`;
    const family = this.#open && type === 'counter' ? full.replace(/_total$/, '') : full;
    this.#text += `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`;
    return full;
  }
}

/** Two `server` lines with one address would otherwise give one sample twice, which scrapers refuse. */
function isNew(seen: Set<string>, labels: Labels): boolean {
  const text = labelText(labels);
  if (seen.has(text)) {
    return false;
  }
  seen.add(text);
  return true;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
