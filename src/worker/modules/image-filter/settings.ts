import type { Pos } from '../../../shared/config/language/ast.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { UNBOUNDED } from './geometry.js';

/** A number, or a text with variables that has it; the text counts where both are there. */
export interface Amount {
  readonly fixed: number;
  readonly text?: ComplexValue<Request> | undefined;
}

/** What the lines of `image_filter` in a block say together. */
export interface Filter {
  readonly mode: 'off' | 'test' | 'size' | 'resize' | 'crop' | 'rotate';
  readonly width: Amount;
  readonly height: Amount;
  /** Degrees; 0 where nothing is turned. */
  readonly angle: Amount;
  /** The latest line. */
  readonly pos: Pos | undefined;
}

/** A location's settings. */
export interface ImageSettings {
  filter: Filter;
  /** How long a body may be, in bytes. */
  buffer: number;
  jpegQuality: Amount;
  webpQuality: Amount;
  sharpen: Amount;
  interlace: boolean;
  transparency: boolean;
}

export const imageSlot = new LocationSlot<Readonly<ImageSettings>>();

const NOTHING: Amount = { fixed: 0 };
export const OFF: Filter = { mode: 'off', width: NOTHING, height: NOTHING, angle: NOTHING, pos: undefined };

/** Whether the filter makes other images, for which it needs a decoder. */
export const transforms = ({ mode }: Filter): boolean => mode === 'resize' || mode === 'crop' || mode === 'rotate';

const DIGITS = /^\d+$/;
/** nginx: NGX_MAX_INT_T_VALUE, above which a number is none. */
const LARGEST = 2 ** 63;

/** What a text stands for: a whole number, or `-` for no bound; 0 for any other text. nginx: ngx_http_image_filter_value. */
export function amountOf(text: string): number {
  if (text === '-') {
    return UNBOUNDED;
  }
  const number = DIGITS.test(text) ? Number(text) : 0;
  return number < LARGEST ? number : 0;
}

/** The number that is meant in a request. nginx: ngx_http_image_filter_get_value. */
export const numberOf = (r: Request, { fixed, text }: Amount): number => (text === undefined ? fixed : amountOf(text.eval(r)));

/** The number that is meant where `-` is none: then it is below zero. */
export function boundedNumberOf(r: Request, amount: Amount): number {
  const value = numberOf(r, amount);
  return value === UNBOUNDED ? -1 : value;
}
