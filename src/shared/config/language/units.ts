/** The greatest ssize_t, off_t and ngx_int_t. */
const maxInteger = 2n ** 63n - 1n;

const sizeScales: Readonly<Record<string, bigint>> = { k: 2n ** 10n, K: 2n ** 10n, m: 2n ** 20n, M: 2n ** 20n };
const offsetScales: Readonly<Record<string, bigint>> = { ...sizeScales, g: 2n ** 30n, G: 2n ** 30n };

/** Bytes from a size such as `8k` or `1m`; undefined if nginx refuses it. Beyond 2^53 the result is rounded. nginx: ngx_parse_size */
export function parseSize(text: string): number | undefined {
  return scaled(text, sizeScales);
}

/** Bytes from an offset, which also may be in gigabytes (`1g`); undefined if nginx refuses it. nginx: ngx_parse_offset */
export function parseOffset(text: string): number | undefined {
  return scaled(text, offsetScales);
}

function scaled(text: string, scales: Readonly<Record<string, bigint>>): number | undefined {
  const scale = scales[text.slice(-1)];
  const digits = scale === undefined ? text : text.slice(0, -1);
  if (!/^[0-9]+$/.test(digits)) {
    return undefined;
  }
  const value = BigInt(digits) * (scale ?? 1n);
  return value <= maxInteger ? Number(value) : undefined;
}

/** The parts of a time in the order they must follow each other in. A space, too, ends the seconds. */
const units: Readonly<Record<string, readonly [step: number, seconds: bigint]>> = {
  y: [1, 31_536_000n],
  M: [2, 2_592_000n],
  w: [3, 604_800n],
  d: [4, 86_400n],
  h: [5, 3600n],
  m: [6, 60n],
  s: [7, 1n],
  ms: [8, 1n],
  ' ': [9, 1n],
};

const monthStep = 2;
const secondStep = 7;

/**
 * A time such as `30s`, `1h 30m` or `500ms` in milliseconds ('ms') or whole seconds ('s'); undefined if nginx refuses it.
 * A number without a unit is in seconds. In milliseconds there are no years and months, in seconds no `ms`. nginx: ngx_parse_time
 */
export function parseTime(text: string, unit: 'ms' | 's'): number | undefined {
  const inSeconds = unit === 's';
  const perSecond = inSeconds ? 1n : 1000n;
  let step = inSeconds ? 0 : monthStep;
  let total = 0n;
  let valid = false;

  const part = /([0-9]*)(ms|[yMwdhms ]|$) */y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) {
      return undefined;
    }
    const digits = match[1] as string;
    const name = match[2] as string;
    valid ||= digits !== '';
    let scale = perSecond;
    if (name !== '') {
      const [next, seconds] = units[name] as readonly [number, bigint];
      if (next <= step || (step >= secondStep && name === ' ') || (inSeconds && name === 'ms')) {
        return undefined;
      }
      step = next;
      scale = name === 'ms' ? 1n : seconds * perSecond;
    }
    total += BigInt(digits) * scale;
    if (total > maxInteger) {
      return undefined;
    }
  }
  return valid ? Number(total) : undefined;
}

/** The number that a text of digits is; undefined for other texts, and beyond what 64 bits hold. nginx: ngx_atoi. */
export function parseNumber(text: string): number | undefined {
  const digits = /^0*(\d{1,19})$/.exec(text)?.[1];
  return digits !== undefined && (digits.length < 19 || BigInt(digits) < 2n ** 63n) ? Number(digits) : undefined;
}
