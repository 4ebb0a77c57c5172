import type { Request } from '../request/request.js';

/** The media type for the URI's extension, else `default_type`. nginx: ngx_http_set_content_type. */
export function contentType(r: Request): string {
  const { types, defaultType } = r.location.settings;
  const exten = r.exten;
  if (exten === '') return defaultType;
  return types.get(exten) ?? types.get(exten.toLowerCase()) ?? defaultType;
}
