import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { defineModule, defineScope } from '../../module.js';
import { AGAIN, DECLINED, type Result } from '../../task/codes.js';

interface Settings {
  uris: readonly string[];
  withBody: boolean;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<Settings>({
  fields: { uris: inherit<readonly string[]>([]), withBody: inherit(true) },
  directives: {
    // nginx: ngx_http_mirror.
    mirror: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (node.args[0] === 'off') {
          if (conf.uris !== undefined) {
            ctx.reject('is duplicate');
          }
          conf.uris = [];
        } else {
          if (conf.uris?.length === 0) {
            ctx.reject('is duplicate');
          }
          conf.uris = append(conf.uris, node.args[0]!);
        }
      },
    },
    mirror_request_body: { in: ANYWHERE, args: 'flag', set: flag('withBody') },
  },
});

const mirrored = contextSlot<boolean>();

/**
 * Sends copies of a request to other locations and forgets about their responses. The client's next request on the connection waits
 * for them all the same. nginx: ngx_http_mirror_handler.
 */
function mirror(r: Request, conf: Readonly<Settings>): Result {
  if (r !== r.main || mirrored.get(r)) {
    return DECLINED;
  }
  mirrored.set(r, true);
  if (!conf.withBody) {
    sendCopies(r, conf.uris);
    return DECLINED;
  }
  let waiting = false;
  let read = false;
  readBody(r, () => {
    read = true;
    sendCopies(r, conf.uris);
    if (waiting) {
      r.resume(DECLINED);
    }
  });
  if (read) {
    return DECLINED;
  }
  waiting = true;
  return AGAIN;
}

function sendCopies(r: Request, uris: readonly string[]): void {
  for (const uri of uris) {
    startSubrequest(r, { uri, args: r.args, keepMethod: true, background: true, awaited: true, headerOnly: true });
  }
}

/** Copies of requests for other servers to see. nginx: ngx_http_mirror_module. */
export const mirrorModule = defineModule({
  name: 'mirror',
  location: scope,
  phases: { precontent: (conf) => (conf.uris.length === 0 ? undefined : (r) => mirror(r, conf)) },
});
