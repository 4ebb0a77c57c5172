import type { ZoneRef } from '../zone/kind.js';
import type { Block } from './block.js';
import { contextNames, In } from './context.js';
import { argPosition, type DirectiveNode } from './language/ast.js';
import { suggest } from './suggest.js';
import type { ZoneTable } from './zone-table.js';

/** Says that a `;` may be missing, where an argument begins a line and is a directive's name. `known`: whether a name is one. */
export function semicolonHint(node: DirectiveNode, known: (name: string) => boolean): string | undefined {
  let line = node.pos.line;
  for (let i = 0; i < node.args.length; i++) {
    const [at] = argPosition(node, i)!;
    if (at > line && known(node.args[i]!)) {
      return `is a \`;\` missing at the end of line ${line}? \`${node.args[i]}\` begins a directive`;
    }
    line = at;
  }
  return undefined;
}

const TIME_UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(ms|msecs?|millis(econds?)?)$/i, 'ms'],
  [/^(s|secs?|seconds?)$/i, 's'],
  [/^(mins?|minutes?)$/i, 'm'],
  [/^(h|hrs?|hours?)$/i, 'h'],
  [/^(d|days?)$/i, 'd'],
  [/^(w|weeks?)$/i, 'w'],
];

const isSize = (unit: string): boolean => /^[km]$/i.test(unit);

/** How a size or time is to be written whose unit nginx does not know, such as `10MB` or `30sec`; undefined when it is none. */
export function unitHint(text: string): string | undefined {
  const [, digits, fraction, word = ''] = /(?:^|[=:])(\d+)(\.\d+)?([A-Za-z]*)$/.exec(text) ?? [];
  if (digits === undefined || word === '') {
    return undefined;
  }
  if (fraction !== undefined) {
    return 'numbers are whole: take the next smaller unit, as `1536k` for 1.5m';
  }
  const size = /^([kmg])i?b?$/i.exec(word) ?? /^()b(?:ytes?)?$/i.exec(word);
  if (size !== null && !isSize(word)) {
    const letter = size[1]!.toLowerCase();
    const written = letter === 'g' ? `${BigInt(digits) * 1024n}m` : digits + letter;
    return `write \`${written}\`: sizes end in k or m, or are in bytes`;
  }
  const unit = TIME_UNITS.find(([pattern]) => pattern.test(word))?.[1];
  return unit === undefined || unit === word || isSize(word) ? undefined : `write \`${digits}${unit}\`: times end in ms, s, m, h, d or w`;
}

/** What may be meant by the name of a zone that nothing defines. `known`: whether there is a directive of a name. */
export function zoneHint(
  { name, kind }: ZoneRef<unknown, unknown>,
  zones: ZoneTable,
  known: (name: string) => boolean,
): string | undefined {
  const definer = [`${kind.id}_zone`, `${kind.id}_path`].find(known);
  if (definer === undefined) {
    return undefined;
  }
  const others = zones.all().filter((zone) => zone.kind === kind && zone.bytes > 0);
  const meant =
    suggest(
      name,
      others.map((zone) => zone.name),
    ) ?? (others.length === 1 ? others[0]!.name : undefined);
  return `no \`${definer}\` defines it${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`;
}

/** Where a directive may stand, and what may have brought it where it is: a `}` that is missing above, or `http { }` around all. */
export function misplacedHint({ name, pos }: DirectiveNode, contexts: number, block: Block): string {
  const places = `\`${name}\` may stand in ${contextNames(contexts)}`;
  if (block.context === In.MAIN && (contexts & (In.HTTP | In.STREAM)) !== 0) {
    const outer = (contexts & In.HTTP) !== 0 ? 'http' : 'stream';
    return `${places}: put it into \`${outer} { }\`, or \`include\` this file there`;
  }
  const { node } = block;
  if (node === undefined || node.pos.file !== pos.file || pos.line === node.pos.line || pos.column > node.pos.column) {
    return places;
  }
  for (let outer = block.parent; outer !== undefined; outer = outer.parent) {
    if ((outer.context & contexts) !== 0) {
      return `${places}; is the \`}\` of \`${node.name}\` on line ${node.pos.line} missing?`;
    }
  }
  return places;
}
