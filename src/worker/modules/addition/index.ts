import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { text } from '../../../shared/config/slots.js';
import { type PostponeStage, postponeOf } from '../../http/body/postpone-stage.js';
import { type ContentTypes, contentTypes, hasContentType } from '../../http/headers/content-types.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { defineModule, defineScope } from '../../module.js';
import { FAILED, OK, type Result } from '../../task/codes.js';

interface Settings {
  /** URIs; empty for none. */
  before: string;
  after: string;
  types: ContentTypes;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;

const scope = defineScope<Settings>({
  fields: { before: inherit(''), after: inherit(''), types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)) },
  directives: {
    add_before_body: { in: ANYWHERE, args: 1, set: text('before') },
    add_after_body: { in: ANYWHERE, args: 1, set: text('after') },
    addition_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
  },
});

const wanted = contextSlot<boolean>();

// nginx: ngx_http_addition_header_filter.
function headerFilter(r: Request, conf: Readonly<Settings>): Result {
  const { out } = r;
  if (out.status !== 200 || r !== r.main || !hasContentType(r, conf.types)) {
    return OK;
  }
  wanted.set(r, true);
  r.postpones = true;
  r.bodyIdentity = undefined;
  out.clearContentLength();
  out.clearAcceptRanges();
  out.weakenEtag();
  return OK;
}

// Other filters see the body as it was: what is added goes past them, as nginx's postpone filter has it.
function bodyFilter(r: Request, next: BodyStage, conf: Readonly<Settings>): BodyStage {
  const postponed = wanted.get(r) ? postponeOf(r) : null;
  if (postponed === null) {
    return next;
  }
  if (conf.before !== '') {
    add(r, postponed, conf.before);
  }
  if (conf.after !== '') {
    postponed.addTail((then) => {
      add(r, postponed, conf.after);
      then();
    });
  }
  return next;
}

function add(r: Request, postponed: PostponeStage, uri: string): void {
  const slot = postponed.slot();
  const sr = startSubrequest(r, { uri, sink: slot, placed: true, end: () => slot.end() });
  if (sr === undefined) {
    r.finalize(FAILED);
  } else {
    postponed.keep(slot, sr);
  }
}

/** Puts the responses to other requests before and after a response. nginx: ngx_http_addition_filter_module. */
export const additionModule = defineModule({
  name: 'addition',
  location: scope,
  headerFilter: (conf) => (conf.before === '' && conf.after === '' ? undefined : (r) => headerFilter(r, conf)),
  bodyFilter: (conf) => (conf.before === '' && conf.after === '' ? undefined : (r, next) => bodyFilter(r, next, conf)),
});
