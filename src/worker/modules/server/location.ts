import type { DirectiveNode } from '../../../shared/config/ast.js';
import { In } from '../../../shared/config/context.js';
import type { LocationInfo } from '../../http/location-info.js';
import type { Context } from '../../module.js';

/** Opens a `location` block. nginx: ngx_http_core_location. */
export function openLocation(node: DirectiveNode, ctx: Context): void {
  const info = readName(node, ctx);
  const { block } = ctx;
  if (block.context === In.LOCATION) checkNesting(info, block.info as LocationInfo, ctx);
  for (const sibling of block.children) {
    const other = sibling.info as LocationInfo | undefined;
    if (sibling.context !== In.LOCATION || other === undefined || !isDuplicate(info, other)) continue;
    // nginx: ngx_http_join_exact_locations.
    ctx.fail(`duplicate location "${info.name}"`, {
      related: sibling.node === undefined ? [] : [{ pos: sibling.node.pos, text: 'it stands here already' }],
    });
  }
  ctx.openBlock(node, In.LOCATION, info);
}

function isDuplicate(a: LocationInfo, b: LocationInfo): boolean {
  if (a.name !== b.name || a.kind === 'regex' || b.kind === 'regex') return false;
  return (a.kind === 'exact') === (b.kind === 'exact') && (a.kind === 'named') === (b.kind === 'named');
}

function readName(node: DirectiveNode, ctx: Context): LocationInfo {
  const [first, second] = node.args as [string, string | undefined];
  if (second !== undefined) {
    if (first === '=') return { kind: 'exact', name: second };
    if (first === '^~') return { kind: 'prefix-final', name: second };
    if (first === '~' || first === '~*') return regexLocation(second, first === '~*', ctx);
    return ctx.fail(`invalid location modifier "${first}"`, {
      arg: 0,
      hint: 'a location begins with `=`, `~`, `~*`, `^~`, `@` or nothing',
    });
  }
  if (first.startsWith('=')) return { kind: 'exact', name: first.slice(1) };
  if (first.startsWith('^~')) return { kind: 'prefix-final', name: first.slice(2) };
  if (first.startsWith('~*')) return regexLocation(first.slice(2), true, ctx);
  if (first.startsWith('~')) return regexLocation(first.slice(1), false, ctx);
  return { kind: first.startsWith('@') ? 'named' : 'prefix', name: first };
}

function regexLocation(pattern: string, caseless: boolean, ctx: Context): LocationInfo {
  return { kind: 'regex', name: pattern, regex: ctx.regex(pattern, caseless) };
}

function checkNesting(info: LocationInfo, outer: LocationInfo, ctx: Context): void {
  if (outer.kind === 'exact') ctx.fail(`location "${info.name}" cannot be inside the exact location "${outer.name}"`);
  if (outer.kind === 'named') ctx.fail(`location "${info.name}" cannot be inside the named location "${outer.name}"`);
  if (info.kind === 'named') ctx.fail(`named location "${info.name}" can be on the server level only`);
  if (info.kind !== 'regex' && !info.name.startsWith(outer.name)) {
    ctx.fail(`location "${info.name}" is outside location "${outer.name}"`);
  }
}
