import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { directiveError } from '../../../shared/config/errors.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import type { Context } from '../../module.js';

/** Opens a `location` block. nginx: ngx_http_core_location. */
export function openLocation(node: DirectiveNode, ctx: Context): void {
  const info = readName(node, ctx);
  const { block } = ctx;
  if (block.context === In.LOCATION) {
    checkNesting(info, block.info as LocationInfo, ctx);
  }
  ctx.openBlock(node, In.LOCATION, info);
}

/** Fails for the first location of a block that stands there twice. nginx: ngx_http_join_exact_locations. */
export function checkDuplicates(outer: Block): void {
  const { children } = outer;
  if (children.length < 2) {
    return;
  }
  const seen = new Map<string, DirectiveNode>();
  for (const { context, info, node } of children) {
    if (context !== In.LOCATION || node === undefined) {
      continue;
    }
    const { kind, name } = info as LocationInfo;
    // Of two named locations of one name nginx takes the first.
    if (kind === 'regex' || kind === 'named') {
      continue;
    }
    const key = kind === 'exact' ? `= ${name}` : name;
    const earlier = seen.get(key);
    if (earlier !== undefined) {
      throw directiveError(node, `duplicate location "${name}"`, { related: [{ pos: earlier.pos, text: 'it stands here already' }] });
    }
    seen.set(key, node);
  }
}

function readName(node: DirectiveNode, ctx: Context): LocationInfo {
  const [first, second] = node.args as [string, string | undefined];
  if (second !== undefined) {
    if (first === '=') {
      return { kind: 'exact', name: second };
    }
    if (first === '^~') {
      return { kind: 'prefix-final', name: second };
    }
    if (first === '~' || first === '~*') {
      return regexLocation(second, first === '~*', ctx);
    }
    return ctx.fail(`invalid location modifier "${first}"`, {
      arg: 0,
      hint: 'a location begins with `=`, `~`, `~*`, `^~`, `@` or nothing',
    });
  }
  if (first.startsWith('=')) {
    return { kind: 'exact', name: first.slice(1) };
  }
  if (first.startsWith('^~')) {
    return { kind: 'prefix-final', name: first.slice(2) };
  }
  if (first.startsWith('~*')) {
    return regexLocation(first.slice(2), true, ctx);
  }
  if (first.startsWith('~')) {
    return regexLocation(first.slice(1), false, ctx);
  }
  return { kind: first.startsWith('@') ? 'named' : 'prefix', name: first };
}

function regexLocation(pattern: string, caseless: boolean, ctx: Context): LocationInfo {
  return { kind: 'regex', name: pattern, regex: ctx.regex(pattern, caseless) };
}

function checkNesting(info: LocationInfo, outer: LocationInfo, ctx: Context): void {
  if (outer.kind === 'exact') {
    ctx.fail(`location "${info.name}" cannot be inside the exact location "${outer.name}"`);
  }
  if (outer.kind === 'named') {
    ctx.fail(`location "${info.name}" cannot be inside the named location "${outer.name}"`);
  }
  if (info.kind === 'named') {
    ctx.fail(`named location "${info.name}" can be on the server level only`);
  }
  if (info.kind !== 'regex' && !info.name.startsWith(outer.name)) {
    const inside = `${outer.name.replace(/\/$/, '')}/${info.name.replace(/^\//, '')}`;
    ctx.fail(`location "${info.name}" is outside location "${outer.name}"`, {
      hint: `a location inside another begins with its name: write \`location ${inside}\`, or move it out of the block`,
    });
  }
}
