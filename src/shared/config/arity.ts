import type { Arity } from './define.js';
import { directiveError } from './errors.js';
import type { DirectiveNode } from './language/ast.js';

/** nginx's limit, past which `directive` has too many words for its table. */
const MAX_ARGS = 8;

/** Checks how many arguments a directive has. Throws a ConfigError with nginx's message. nginx: ngx_conf_handler. */
export function checkArgs(node: DirectiveNode, arity: Arity): void {
  const n = node.args.length;
  const wrong = (): never => {
    throw directiveError(node, `invalid number of arguments in "${node.name}" directive`, { hint: expectedArguments(arity, n) });
  };
  if (arity === 'any') {
    return;
  }
  if (arity === 'flag') {
    if (n !== 1) {
      wrong();
    }
    const value = node.args[0]!.toLowerCase();
    if (value !== 'on' && value !== 'off') {
      throw directiveError(node, `invalid value "${node.args[0]}" in "${node.name}" directive, it must be "on" or "off"`, { arg: 0 });
    }
  } else if (typeof arity === 'number') {
    if (n !== arity) {
      wrong();
    }
  } else if ('min' in arity) {
    if (n < arity.min || n > (arity.max ?? Number.POSITIVE_INFINITY)) {
      wrong();
    }
  } else if (!arity.includes(n) || n > MAX_ARGS) {
    wrong();
  }
}

function expectedArguments(arity: Arity, given: number): string {
  const word = (n: number): string => (n === 0 ? 'no argument' : n === 1 ? 'one argument' : `${n} arguments`);
  let takes: string;
  if (arity === 'flag') {
    takes = '`on` or `off`';
  } else if (arity === 'any') {
    takes = 'any number of arguments';
  } else if (typeof arity === 'number') {
    takes = word(arity);
  } else if ('min' in arity) {
    takes = arity.max === undefined ? `at least ${word(arity.min)}` : `${arity.min} to ${arity.max} arguments`;
  } else {
    takes = `${arity.join(' or ')} arguments`;
  }
  return `it takes ${takes}, ${given === 0 ? 'none is' : given === 1 ? 'one is' : `${given} are`} given`;
}
