import type { ConfigContext } from '../../shared/config/define.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import type { RegexValue } from '../../shared/value/regex-value.js';
import type { Subject } from '../../shared/value/subject.js';
import { lowerAscii } from '../text/ascii-case.js';
import { newVariable } from './variable-name.js';
import { WildcardHash } from './wildcard-hash.js';

/** A `map` as it is read: what its lines say. */
class MapTable<R extends Subject> {
  readonly names = new WildcardHash<ComplexValue<R>>();
  readonly regexes: { readonly regex: RegexValue<R>; readonly value: ComplexValue<R> }[] = [];
  default: ComplexValue<R> | undefined = undefined;
  /** Names with wildcards are keys, and a name's final dot does not count. */
  hostnames = false;
  /** The variable is computed at each use. */
  volatile = false;

  /** Takes one line. nginx: ngx_http_map. */
  read(node: DirectiveNode, ctx: ConfigContext<R>): void {
    const { name, args } = node;
    if (args.length === 0 && name === 'hostnames') {
      this.hostnames = true;
      return;
    }
    if (args.length === 0 && name === 'volatile') {
      this.volatile = true;
      return;
    }
    if (args.length !== 1) {
      ctx.fail('invalid number of the map parameters');
    }
    const value = ctx.complex(args[0]!);
    if (name === 'default') {
      if (this.default !== undefined) {
        ctx.fail('duplicate default map parameter');
      }
      this.default = value;
    } else if (name.startsWith('~')) {
      const caseless = name.startsWith('~*');
      this.regexes.push({ regex: ctx.regex(name.slice(caseless ? 2 : 1), caseless), value });
    } else {
      // A backslash keeps a key from being taken for a parameter.
      this.#addName(name.startsWith('\\') ? name.slice(1) : name, value, ctx);
    }
  }

  /** Finds the value for a text: an exact name, a wildcard, the first matching expression. nginx: ngx_http_map_find. */
  find(r: R, text: string): ComplexValue<R> | undefined {
    const found = this.names.find(lowerAscii(text));
    if (found !== undefined || text === '') {
      return found ?? this.default;
    }
    for (let i = 0; i < this.regexes.length; i++) {
      const { regex, value } = this.regexes[i]!;
      if (regex.exec(r, text)) {
        return value;
      }
      if (regex.failed) {
        break;
      }
    }
    return this.default;
  }

  #addName(name: string, value: ComplexValue<R>, ctx: ConfigContext<R>): void {
    const result = this.names.add(name, value, this.hostnames);
    if (result === 'invalid') {
      ctx.fail(`invalid hostname or wildcard "${name}"`);
    }
    if (result === 'conflict') {
      // nginx has lower-cased the key by now.
      ctx.fail(`conflicting parameter "${lowerAscii(name)}"`);
    }
  }
}

/** Reads `map SOURCE $name { ... }` and defines its variable. nginx: ngx_http_map_block. */
export function readMap<R extends Subject>(node: DirectiveNode, ctx: ConfigContext<R>): void {
  const source = ctx.complex(node.args[0]!);
  const name = newVariable(node.args[1]!, 1, ctx);
  const table = new MapTable<R>();
  ctx.entries(node, (line, lineCtx) => table.read(line, lineCtx));
  ctx.variables.define({
    name,
    changeable: true,
    cacheable: !table.volatile,
    origin: { text: `map ${node.args[0]}`, pos: node.pos },
    get(r) {
      let text = source.eval(r);
      if (table.hostnames && text.endsWith('.')) {
        text = text.slice(0, -1);
      }
      return table.find(r, text)?.eval(r) ?? '';
    },
  });
}
