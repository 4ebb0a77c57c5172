import { EMERG, ERROR } from '../../../shared/log/level.js';
import type { BodyFilter } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { holdHead } from '../../http/request/respond.js';
import { defineModule } from '../../module.js';
import { FAILED, OK, type Result } from '../../task/codes.js';
import { scope } from './directives.js';
import { type ImageSettings, imageSlot, transforms } from './settings.js';
import { loadSharp } from './sharp-package.js';
import { ImageStage, seen } from './stage.js';

/** What comes in many parts is no image, though each of its parts may be one. */
const MANY_PARTS = 'multipart/x-mixed-replace';

// nginx: ngx_http_image_header_filter.
function headerFilter(r: Request, conf: Readonly<ImageSettings>): Result {
  const { out } = r;
  if (out.status === 304) {
    return OK;
  }
  if (seen.get(r) !== undefined) {
    // An answer in place of the one that was refused.
    seen.set(r, undefined);
    return OK;
  }
  if (out.contentType.slice(0, MANY_PARTS.length).toLowerCase() === MANY_PARTS) {
    r.log(ERROR, 'image filter: multipart/x-mixed-replace response');
    return FAILED;
  }
  const length = out.contentLength;
  seen.set(r, length === -1 ? conf.buffer : length);
  if (length > conf.buffer) {
    r.log(ERROR, `image filter: too big response: ${length}`);
    return 415;
  }
  if (r.headerOnly) {
    return OK;
  }
  out.refresh = undefined;
  out.allowRanges = false;
  if (conf.filter.mode !== 'test') {
    r.bodyIdentity = undefined;
  }
  return holdHead(r, bodyFilter);
}

const bodyFilter: BodyFilter = (r, next) =>
  r.headHolder === bodyFilter ? new ImageStage(r, r.location.conf(imageSlot), seen.get(r)!, next) : next;

/** Tells of images, and makes smaller or turned ones of them. nginx: ngx_http_image_filter_module. */
export const imageFilterModule = defineModule({
  name: 'image_filter',
  location: scope,
  slot: imageSlot,
  installLocation({ filter }, _location, env) {
    if (!transforms(filter) || env.rehearsing) {
      return;
    }
    // The first image is not to wait for it, nor anybody beside it.
    const sharp = loadSharp();
    if (typeof sharp === 'string') {
      env.log.log(EMERG, `"image_filter ${filter.mode}" does not work: the package sharp ${sharp}`);
    }
  },
  headerFilter: (conf) => (conf.filter.mode === 'off' ? undefined : (r) => headerFilter(r, conf)),
  bodyFilter: (conf) => (conf.filter.mode === 'off' ? undefined : bodyFilter),
});
