import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { Context } from '../../module.js';
import type { Request } from '../request/request.js';

/** A set of media types; `null` stands for `*`, any type. */
export type ContentTypes = ReadonlySet<string> | null;

/** Takes the types of a directive such as `gzip_types`, which come on top of the defaults. nginx: ngx_http_types_slot. */
export const contentTypes =
  (defaults: readonly string[]) =>
  (conf: { types?: ContentTypes | undefined }, node: DirectiveNode, ctx: Context): void => {
    conf.types = parseContentTypes(conf.types, node, ctx, defaults);
  };

function parseContentTypes(before: ContentTypes | undefined, node: DirectiveNode, ctx: Context, defaults: readonly string[]): ContentTypes {
  if (before === null) {
    return null;
  }
  const types = new Set(before ?? defaults);
  for (const [i, given] of node.args.entries()) {
    if (given === '*') {
      return null;
    }
    const type = given.toLowerCase();
    if (types.has(type)) {
      ctx.warn(`duplicate MIME type "${given}"`, { arg: i });
    }
    types.add(type);
  }
  return types;
}

/** Whether the response's type is in the set. nginx: ngx_http_test_content_type. */
export function hasContentType(r: Request, types: ContentTypes): boolean {
  if (types === null) {
    return true;
  }
  const type = r.out.contentType;
  if (type === '') {
    return false;
  }
  if (types.has(type)) {
    return true;
  }
  const semicolon = type.indexOf(';');
  return types.has((semicolon === -1 ? type : type.slice(0, semicolon)).trimEnd().toLowerCase());
}
