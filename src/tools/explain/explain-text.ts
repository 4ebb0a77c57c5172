import type { LookedAt } from '../../worker/http/request/trace-location.js';
import type { PlacedStep } from '../../worker/http/trace/trace-places.js';
import type { PackedTrace } from '../../worker/http/trace/trace-text.js';
import type { PlacedField, Rehearsed } from '../rehearsal/rehearsal.js';
import type { AskedRequest } from './explain-request.js';

/** Colours for a terminal; without one, the texts as they are. */
export interface Paint {
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  label(text: string): string;
}

const sgr =
  (code: number) =>
  (text: string): string =>
    `\x1b[${code}m${text}\x1b[0m`;
const plain = (text: string): string => text;

/** The colours of the text. */
export const paint = (colours: boolean): Paint =>
  colours
    ? { strong: sgr(1), dim: sgr(2), good: sgr(32), bad: sgr(31), label: sgr(36) }
    : { strong: plain, dim: plain, good: plain, bad: plain, label: plain };

/** A response header and where it comes from. */
export interface OriginatedField extends PlacedField {
  readonly from: string;
}

const LABELS: Readonly<Record<PlacedStep['kind'], string>> = {
  server: 'server',
  location: 'location',
  rewrite: 'rewrite',
  variable: 'variable',
  access: 'access',
  limit: 'limit',
  file: 'file',
  redirect: 'inside',
  subrequest: 'subrequest',
  cache: 'cache',
  upstream: 'backend',
  'backend-request': 'asks',
  'backend-response': 'answered',
  answer: 'answer',
  header: 'header',
  'lost-header': 'lost',
  log: 'log',
  error: 'error log',
  end: 'end',
};
const WIDTH = 11;
/** How many lines of one kind stand in a row before those that do not apply are put together. */
const MANY = 3;
/** Longer values are cut, unless everything is asked for. */
const LONGEST = 110;

/** Shows what became of a request, as lines for a person. */
export class ExplainText {
  readonly #paint: Paint;
  readonly #shorten: (file: string) => string;
  readonly #all: boolean;
  #lines: string[] = [];
  /** The headers of the client's request. */
  #sent: ReadonlySet<string> = new Set();

  /** `shorten` makes a file's name shorter; `all`: nothing is cut or put together. */
  constructor(paint: Paint, shorten: (file: string) => string, all: boolean) {
    this.#paint = paint;
    this.#shorten = shorten;
    this.#all = all;
  }

  /** The whole text, latin1. */
  show({ request, options }: AskedRequest, outcome: Rehearsed, headers: readonly OriginatedField[]): string {
    const { strong, dim } = this.#paint;
    this.#lines = [];
    this.#sent = new Set(request.headers?.map(([name]) => name.toLowerCase()).filter((name) => name !== 'host'));
    const { response } = outcome;
    const scheme = options.tls ? 'https' : 'http';
    const host = request.headers?.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? options.host;
    const method = request.method ?? 'GET';
    this.#lines.push(
      `${strong(`${method} ${scheme}://${host}${request.target}`)} ${dim(`to port ${options.port}, from ${options.address ?? '127.0.0.1'}`)}`,
    );
    this.#steps(outcome.trace.filter(({ kind }) => kind !== 'header' && kind !== 'lost-header' && kind !== 'log'));
    const told = new Set(outcome.trace.map(({ text }) => text));
    for (const { message } of outcome.errors) {
      if (!told.has(message) && !/ closed keepalive connection$/.test(message)) {
        this.#line('error', message, undefined, this.#paint.bad);
      }
    }
    const colour =
      response.status >= 500 || response.status === 0 ? this.#paint.bad : response.status >= 400 ? this.#paint.bad : this.#paint.good;
    const first =
      response.status === 0
        ? 'the connection is closed without an answer'
        : `${response.status} ${response.reason}, ${response.body.length} bytes`;
    this.#line('answer', first, undefined, (text) => strong(colour(text)));
    for (const { name, value, from, ...place } of headers) {
      this.#line('', `${name}: ${value}`, place.line === undefined ? from : place);
    }
    for (const step of outcome.trace.filter(({ kind, depth }) => kind === 'lost-header' && depth === 0)) {
      this.#line('lost-header', step.text, step, this.#paint.bad);
    }
    for (const step of outcome.trace.filter(({ kind }) => kind === 'log')) {
      this.#line('log', `${step.data.line}`, step);
    }
    return `${this.#lines.join('\n')}\n`;
  }

  /** What a running server has told, with the milliseconds since the request began. */
  live({ status, location, server, uri, steps, cut }: PackedTrace): string {
    const { strong, dim } = this.#paint;
    this.#lines = [`${strong(`${status} ${uri}`)} ${dim(`server "${server}", location "${location}"`)}`];
    for (const step of steps) {
      this.#step({ ...step, text: `${step.ms.toFixed(1).padStart(7)} ms  ${step.text}` });
    }
    if (cut > 0) {
      this.#lines.push(dim(`  ${cut} further steps had no room in the header`));
    }
    return `${this.#lines.join('\n')}\n`;
  }

  #steps(steps: readonly PlacedStep[]): void {
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!;
      let idle = i;
      while (idle < steps.length && isIdle(steps[idle]!)) {
        idle++;
      }
      if (idle - i > MANY && !this.#all) {
        const lines = steps.slice(i, idle).map(({ line }) => line);
        this.#line('rewrite', `${idle - i} of rewrite and if do not apply: lines ${lines.join(', ')}`, step, this.#paint.dim, step.depth);
        i = idle - 1;
        continue;
      }
      this.#step(step);
    }
  }

  #step(step: PlacedStep): void {
    const { kind, text, data, depth } = step;
    const refused = /refused/.test(text) && (kind === 'access' || kind === 'limit');
    const colour = kind === 'error' || refused || data.failed === true ? this.#paint.bad : isIdle(step) ? this.#paint.dim : plain;
    this.#line(kind, text, step, colour, depth);
    if (kind === 'location' && data.looked !== undefined) {
      this.#losers(data.looked as readonly LookedAt[], depth);
    }
    if (kind === 'backend-request') {
      for (const { name, value, ...place } of (data.fields ?? []) as readonly PlacedField[]) {
        const from = this.#sent.has(name.toLowerCase()) ? 'from the client' : 'by default';
        this.#line('', `${name}: ${value}`, place.line === undefined ? from : place, plain, depth);
      }
    }
  }

  /** The locations that were not chosen, by the reason. */
  #losers(looked: readonly LookedAt[], depth: number): void {
    const reasons = new Map<string, string[]>();
    for (const { location, verdict, won } of looked) {
      if (!won) {
        reasons.set(verdict, [...(reasons.get(verdict) ?? []), location]);
      }
    }
    for (const [verdict, names] of reasons) {
      this.#line('', `not ${names.join(', ')}: ${verdict}`, undefined, this.#paint.dim, depth);
    }
  }

  #line(
    kind: PlacedStep['kind'] | '',
    text: string,
    place: { readonly file: string | undefined; readonly line: number | undefined } | string | undefined,
    colour: (text: string) => string = plain,
    depth = 0,
  ): void {
    const label = kind === '' ? '' : LABELS[kind];
    const safe = text.replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
    const cut = this.#all || safe.length <= LONGEST ? safe : `${safe.slice(0, LONGEST - 3)}...`;
    const where = typeof place === 'string' ? place : place?.line === undefined ? '' : `${this.#shorten(place.file ?? '')}:${place.line}`;
    const behind = where === '' ? '' : `  ${this.#paint.dim(where)}`;
    this.#lines.push(`${'  '.repeat(depth)}  ${this.#paint.label(label.padEnd(WIDTH))}${colour(cut)}${behind}`);
  }
}

/** A line of the rewrite module that changed nothing. */
const isIdle = ({ kind, data }: PlacedStep): boolean => kind === 'rewrite' && (data.matches === false || data.holds === false);
