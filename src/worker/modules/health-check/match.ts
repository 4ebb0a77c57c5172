import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';
import type { UpstreamHead } from '../../upstream/response/upstream-head.js';

/** What a response is looked at for; the words stand in log lines. */
export type Aspect = 'status code' | 'header' | 'body' | 'variables';

interface StatusTest {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

type HeaderTest = (r: Request, head: UpstreamHead) => boolean;

interface BodyTest {
  readonly negated: boolean;
  readonly regex: RegexValue<Request>;
}

/** A `match` block: what a healthy response looks like. */
export class Match {
  readonly #status: StatusTest[] = [];
  readonly #headers: HeaderTest[] = [];
  readonly #bodies: BodyTest[] = [];
  readonly #required: ComplexValue<Request>[] = [];

  /** The whole body has to be read. */
  get wantsBody(): boolean {
    return this.#bodies.length > 0;
  }

  /** Tests everything except the body. Returns the aspect that does not match. */
  testHead(r: Request, head: UpstreamHead): Aspect | undefined {
    if (!this.#status.every(({ negated, ranges }) => ranges.some(([low, high]) => head.status >= low && head.status <= high) !== negated)) {
      return 'status code';
    }
    if (!this.#headers.every((test) => test(r, head))) {
      return 'header';
    }
    const met = this.#required.every((value) => {
      const text = value.eval(r);
      return text !== '' && text !== '0';
    });
    return met ? undefined : 'variables';
  }

  testBody(r: Request, body: string): Aspect | undefined {
    return this.#bodies.every(({ negated, regex }) => regex.exec(r, body) !== negated) ? undefined : 'body';
  }

  /** Takes one line of the block. */
  read(node: DirectiveNode, ctx: Context): void {
    switch (node.name) {
      case 'status':
        this.#status.push(readStatus(node, ctx));
        break;
      case 'header':
        this.#headers.push(readHeader(node, ctx));
        break;
      case 'body':
        this.#bodies.push(readBody(node, ctx));
        break;
      case 'require':
        if (node.args.length === 0) {
          ctx.fail('invalid number of arguments in "require" directive');
        }
        for (const text of node.args) {
          if (!text.startsWith('$')) {
            ctx.fail(`"${text}" is not a variable`);
          }
          this.#required.push(ctx.complex(text));
        }
        break;
      default:
        ctx.fail(`unknown directive "${node.name}" in "match"`);
    }
  }
}

function readStatus({ args }: DirectiveNode, ctx: Context): StatusTest {
  const negated = args[0] === '!';
  const codes = negated ? args.slice(1) : args;
  if (codes.length === 0) {
    ctx.fail('invalid number of arguments in "status" directive');
  }
  return {
    negated,
    ranges: codes.map((text) => {
      const found = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? ctx.fail(`invalid status "${text}"`);
      return [Number(found[1]), Number(found[2] ?? found[1])];
    }),
  };
}

function readHeader({ args }: DirectiveNode, ctx: Context): HeaderTest {
  const [first = '', second = '', third = ''] = args;
  if (args.length === 1) {
    return (_r, head) => head.joined(first.toLowerCase()) !== undefined;
  }
  if (args.length === 2 && first === '!') {
    return (_r, head) => head.joined(second.toLowerCase()) === undefined;
  }
  if (args.length !== 3) {
    return ctx.fail('invalid number of arguments in "header" directive');
  }
  const name = first.toLowerCase();
  switch (second) {
    case '=':
      return (_r, head) => head.joined(name) === third;
    case '!=':
      return (_r, head) => head.joined(name) !== third;
    case '~':
    case '!~': {
      const regex = ctx.regex(third, false);
      return (r, head) => regex.exec(r, head.joined(name) ?? '') !== (second === '!~');
    }
    default:
      return ctx.fail(`invalid operator "${second}"`);
  }
}

function readBody({ args }: DirectiveNode, ctx: Context): BodyTest {
  const [operator = '', pattern = ''] = args;
  if (args.length !== 2) {
    ctx.fail('invalid number of arguments in "body" directive');
  }
  if (operator !== '~' && operator !== '!~') {
    ctx.fail(`invalid operator "${operator}"`);
  }
  return { negated: operator === '!~', regex: ctx.regex(pattern, false) };
}

/** What a response must be without a `match` block. */
export const usualMatch = {
  wantsBody: false,
  testHead: (_r: Request, { status }: UpstreamHead): Aspect | undefined => (status >= 200 && status < 400 ? undefined : 'status code'),
  testBody: (): Aspect | undefined => undefined,
};

export type ResponseTest = Pick<Match, 'wantsBody' | 'testHead' | 'testBody'>;
