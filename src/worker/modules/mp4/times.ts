import { argValue } from '../../http/syntax/uri-args.js';

/** The largest number of nginx's signed 64 bits. */
const MOST = 2n ** 63n - 1n;

/** What of a film was asked for. */
export interface Span {
  /** Milliseconds of the film before it. */
  readonly start: bigint;
  /** Milliseconds; 0: up to the film's end. */
  readonly length: bigint;
}

/** What the arguments `start` and `end` ask for; undefined for the whole file as it is. nginx: ngx_http_mp4_handler. */
export function spanOf(args: string): Span | undefined {
  const start = milliseconds(argValue(args, 'start') ?? '');
  const end = milliseconds(argValue(args, 'end') ?? '');
  if (end <= 0n) {
    return start < 0n ? undefined : { start, length: 0n };
  }
  const from = start < 0n ? 0n : start;
  return { start: from, length: end > from ? end - from : 0n };
}

/**
 * Reads seconds with any number of digits behind the point, of which three count. -1 where the text is no such number, or a greater one
 * than 64 bits hold. nginx: ngx_http_mp4_atofp.
 */
export function milliseconds(text: string): bigint {
  if (text.length === 0) {
    return -1n;
  }
  let point = -1;
  let first = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46 && point === -1) {
      point = i;
    } else if (code < 48 || code > 57) {
      return -1n;
    } else if (code !== 48 && first === -1) {
      first = i;
    }
  }
  if (first === -1) {
    return 0n;
  }
  const whole = point === -1 ? text : text.slice(0, point);
  const fraction = point === -1 ? '' : text.slice(point + 1, point + 4);
  // Longer numbers are not made at all.
  if (first < whole.length && whole.length - first > 19) {
    return -1n;
  }
  const value = BigInt(whole.slice(first) + fraction.padEnd(3, '0'));
  return value > MOST ? -1n : value;
}
