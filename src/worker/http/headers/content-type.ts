import { documentSlot } from '../request/document-settings.js';
import type { Request } from '../request/request.js';

/**
 * Gives the response the media type for the URI's extension, else `default_type`, unless it has one: a backend's stays when
 * `X-Accel-Redirect` led here. nginx: ngx_http_set_content_type.
 */
export function setContentType(r: Request): void {
  if (r.out.contentType !== '') {
    return;
  }
  const { types, defaultType } = r.location.conf(documentSlot);
  const exten = r.exten;
  r.out.contentType = exten === '' ? defaultType : (types.get(exten) ?? types.get(exten.toLowerCase()) ?? defaultType);
}
