import { parseTemplate } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import { ups } from '../../http/syntax/ups.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import type { Context } from '../../module.js';
import { LengthPass } from './length-pass.js';

/** The result of a rewrite: the text before the first `?` and the text after it. */
export interface Rewritten {
  path: string;
  /** Undefined when the target has no `?` of its own. */
  args: string | undefined;
}

type Part = string | ((r: Request) => string);

/**
 * The replacement of a `rewrite`. Captures are escaped again where they come to stand in arguments or in a redirect,
 * since they were cut out of the decoded URI. nginx: ngx_http_script_copy_capture_code.
 */
export class RewriteTarget {
  readonly #path: readonly Part[];
  readonly #args: readonly Part[] | undefined;
  readonly #lengths: LengthPass;
  /** How many `..` are in the path as it is written. */
  readonly ups: number;

  constructor(text: string, redirect: boolean, ctx: Context) {
    ctx.complex(text);
    this.#lengths = new LengthPass(text, ctx);
    this.ups = ups(text.split('?', 1)[0]!);
    const path: Part[] = [];
    let args: Part[] | undefined;
    for (const part of parseTemplate(text)) {
      if (typeof part !== 'string') {
        (args ?? path).push('capture' in part ? capture(part.capture, redirect || args !== undefined) : variable(part.variable, ctx));
        continue;
      }
      const mark = args === undefined ? part.indexOf('?') : -1;
      if (mark === -1) {
        (args ?? path).push(part);
      } else {
        if (mark > 0) {
          path.push(part.slice(0, mark));
        }
        args = mark + 1 < part.length ? [part.slice(mark + 1)] : [];
      }
    }
    this.#path = path;
    this.#args = args;
  }

  eval(r: Request): Rewritten {
    this.#lengths.run(r);
    return { path: join(this.#path, r), args: this.#args === undefined ? undefined : join(this.#args, r) };
  }
}

function capture(n: number, escaped: boolean): Part {
  return (r) => {
    const text = r.captures?.[n] ?? '';
    return escaped && (r.head.quotedUri || r.head.plusInUri) ? escapeUri(text, 'args') : text;
  };
}

function variable(name: string, ctx: Context): Part {
  const value = ctx.complex(`\${${name}}`);
  return (r) => value.eval(r);
}

function join(parts: readonly Part[], r: Request): string {
  let text = '';
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    text += typeof part === 'string' ? part : part(r);
  }
  return text;
}
