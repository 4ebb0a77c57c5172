import type { ConfigContext } from '../../shared/config/define.js';
import { blockError } from '../../shared/config/errors.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import type { Subject } from '../../shared/value/subject.js';
import { murmurHash2 } from '../digest/murmur-hash2.js';
import { newVariable } from './variable-name.js';

interface Part {
  /** Hundredths of a percent; 0 for the rest. */
  readonly share: number;
  readonly value: string;
}

/** Reads `split_clients KEY $name { ... }` and defines its variable. nginx: ngx_conf_split_clients_block. */
export function readSplitClients<R extends Subject>(node: DirectiveNode, ctx: ConfigContext<R>): void {
  const key = ctx.complex(node.args[0]!);
  const name = newVariable(node.args[1]!, 1, ctx);
  const parts: Part[] = [];
  ctx.entries(node, (line, lineCtx) => parts.push(readPart(line, lineCtx)));
  const limits = limitsOf(parts, node);
  const get = (r: R): string => {
    const hash = murmurHash2(key.eval(r));
    for (let i = 0; i < parts.length; i++) {
      if (hash < limits[i]! || limits[i] === 0) {
        return parts[i]!.value;
      }
    }
    return '';
  };
  ctx.variables.define({ name, changeable: true, get, origin: { text: `split_clients ${node.args[0]}`, pos: node.pos } });
}

// nginx: ngx_http_split_clients.
function readPart<R extends Subject>(line: DirectiveNode, ctx: ConfigContext<R>): Part {
  const value = line.args[0];
  if (value === undefined) {
    return ctx.fail('invalid number of the split_clients parameters');
  }
  return { share: line.name === '*' ? 0 : readShare(line.name, ctx), value };
}

/** Reads a percentage with two decimals at most as hundredths. nginx: ngx_atofp. */
function readShare<R extends Subject>(text: string, ctx: ConfigContext<R>): number {
  const match = /^(\d*)(?:\.(\d{0,2}))?%$/.exec(text);
  const share = match === null ? 0 : Number(match[1] + (match[2] ?? '').padEnd(2, '0'));
  return share > 0 && share < 2 ** 31 ? share : ctx.fail(`invalid percent value "${text}"`);
}

/** Turns shares into the hashes below which each part lies; 0 for a part that takes the rest. */
function limitsOf(parts: readonly Part[], node: DirectiveNode): number[] {
  let sum = 0;
  let last = 0;
  return parts.map(({ share }) => {
    sum = share === 0 ? 10000 : sum + share;
    if (sum > 10000) {
      throw blockError(node, 'percent total is greater than 100%');
    }
    if (sum === 10000) {
      return 0;
    }
    last += Math.floor((share * 0xffffffff) / 10000);
    return last;
  });
}
