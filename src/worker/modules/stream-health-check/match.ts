import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { type CompiledRegex, compileRegex, requestSteps } from '../../../shared/regex/compile.js';
import type { SharedContext } from '../../module.js';
import { hexLiterals } from './hex-literals.js';

/** A `match` block: what a backend is sent, and what a healthy one sends. Both are latin1. */
export class StreamMatch {
  #send: string | undefined;
  #text: string | undefined;
  #regex: CompiledRegex | undefined;

  get send(): string | undefined {
    return this.#send;
  }

  /** Something has to come. */
  get expects(): boolean {
    return this.#text !== undefined || this.#regex !== undefined;
  }

  /** Tells whether what has come so far is as expected. */
  test(received: string): boolean {
    return this.#regex === undefined ? received.includes(this.#text as string) : this.#regex.test(received, { matchSteps: requestSteps });
  }

  /** Takes one line of the block. */
  read({ name, args }: DirectiveNode, ctx: SharedContext): void {
    if (name !== 'send' && name !== 'expect') {
      ctx.fail(`unknown directive "${name}" in "match"`);
    }
    const pattern = name === 'expect' && (args[0] === '~' || args[0] === '~*');
    if (args.length !== (pattern ? 2 : 1)) {
      ctx.fail(`invalid number of arguments in "${name}" directive`);
    }
    if (name === 'send' ? this.#send !== undefined : this.expects) {
      ctx.fail(`"${name}" directive is duplicate`);
    }
    if (name === 'send') {
      this.#send = hexLiterals(args[0]!);
    } else if (pattern) {
      this.#regex = readPattern(args[1]!, args[0] === '~*', ctx);
    } else {
      this.#text = hexLiterals(args[0]!);
    }
  }
}

function readPattern(pattern: string, caseless: boolean, ctx: SharedContext): CompiledRegex {
  try {
    return compileRegex(pattern, { caseless });
  } catch (error) {
    return ctx.fail((error as Error).message);
  }
}
