import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { accepted, flag, size } from '../../../shared/config/slots.js';
import type { PostponeStage } from '../../http/body/postpone-stage.js';
import { type ContentTypes, contentTypes, hasContentType } from '../../http/headers/content-types.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';
import { pages, pageTime, SsiPage } from './page.js';
import type { SsiSettings } from './settings.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;

const scope = defineScope<SsiSettings>({
  fields: {
    enable: inherit(false),
    silentErrors: inherit(false),
    lastModified: inherit(false),
    valueLength: inherit(255),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
  },
  directives: {
    ssi: { in: ANYWHERE | In.LOCATION_IF, args: 'flag', set: flag('enable') },
    ssi_silent_errors: { in: ANYWHERE, args: 'flag', set: flag('silentErrors') },
    // How nginx handles its own buffers; pages are always read through memory here.
    ssi_ignore_recycled_buffers: { in: ANYWHERE, args: 'flag', set: accepted() },
    ssi_min_file_chunk: {
      in: ANYWHERE,
      args: 1,
      set: accepted((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }))),
    },
    ssi_value_length: { in: ANYWHERE, args: 1, set: size('valueLength') },
    ssi_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
    ssi_last_modified: { in: ANYWHERE, args: 'flag', set: flag('lastModified') },
  },
});

// nginx: ngx_http_ssi_header_filter.
function headerFilter(r: Request, conf: Readonly<SsiSettings>): Result {
  const { out } = r;
  if (out.contentLength === 0 || !hasContentType(r, conf.types)) {
    return OK;
  }
  pages.set(r, new SsiPage(r, conf));
  r.postpones = true;
  r.bodyIdentity = undefined;
  if (r !== r.main) {
    return OK;
  }
  out.clearContentLength();
  out.clearAcceptRanges();
  out.bodyChanges(conf.lastModified);
  return OK;
}

// What follows in the chain is where included pages are put in; see the list of modules.
function bodyFilter(r: Request, next: BodyStage): BodyStage {
  const page = pages.get(r);
  if (page === undefined) {
    return next;
  }
  page.output = next as PostponeStage;
  return page;
}

/** Server side includes. nginx: ngx_http_ssi_filter_module. */
export const ssiModule = defineModule({
  name: 'ssi',
  location: scope,
  variables: [
    { name: 'date_local', cacheable: false, get: (r) => pageTime(r, false) },
    { name: 'date_gmt', cacheable: false, get: (r) => pageTime(r, true) },
  ],
  headerFilter: (conf) => (conf.enable ? (r) => headerFilter(r, conf) : undefined),
  bodyFilter: (conf) => (conf.enable ? bodyFilter : undefined),
});
