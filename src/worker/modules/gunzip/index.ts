import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag, unusedBuffers } from '../../../shared/config/slots.js';
import { gunzip } from '../../http/body/compressor.js';
import { TransformStage } from '../../http/body/transform-stage.js';
import { gzipSlot, mayCompress } from '../../http/headers/accept-gzip.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';

const scope = defineScope<{ enable: boolean }>({
  fields: { enable: inherit(false) },
  directives: {
    gunzip: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('enable') },
    gunzip_buffers: { in: In.HTTP | In.SERVER | In.LOCATION, args: 2, set: unusedBuffers },
  },
});

const wanted = contextSlot<boolean>();

// nginx: ngx_http_gunzip_header_filter.
function headerFilter(r: Request): Result {
  const out = r.out;
  if (out.contentEncoding?.toLowerCase() !== 'gzip') {
    return OK;
  }
  r.gzipVary = true;
  if (mayCompress(r, r.location.conf(gzipSlot), 'gzip')) {
    return OK;
  }
  wanted.set(r, true);
  out.contentEncoding = undefined;
  out.clearContentLength();
  out.clearAcceptRanges();
  out.weakenEtag();
  return OK;
}

/** Takes gzip off responses for clients that do not understand it. nginx: ngx_http_gunzip_filter_module. */
export const gunzipModule = defineModule({
  name: 'gunzip',
  location: scope,
  headerFilter: (conf) => (conf.enable ? headerFilter : undefined),
  bodyFilter: (conf) =>
    conf.enable ? (r: Request, next: BodyStage) => (wanted.get(r) ? new TransformStage(r, gunzip(), next, true) : next) : undefined,
});
