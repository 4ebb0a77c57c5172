import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { access, bits, flag, int } from '../../../shared/config/slots.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { defineModule, defineScope } from '../../module.js';
import { DECLINED, type Result } from '../../task/codes.js';
import { copyOrMove } from './copy-move.js';
import { deleteResource, makeCollection } from './delete-mkcol.js';
import { put } from './put.js';
import type { DavSettings } from './settings.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<DavSettings>({
  fields: { methods: inherit(0), createFullPutPath: inherit(false), minDeleteDepth: inherit(0), access: inherit(0o600) },
  directives: {
    dav_methods: {
      in: ANYWHERE,
      args: { min: 1 },
      set: bits('methods', {
        off: 0,
        put: METHOD.PUT,
        delete: METHOD.DELETE,
        mkcol: METHOD.MKCOL,
        copy: METHOD.COPY,
        move: METHOD.MOVE,
      }),
    },
    create_full_put_path: { in: ANYWHERE, args: 'flag', set: flag('createFullPutPath') },
    min_delete_depth: { in: ANYWHERE, args: 1, set: int('minDeleteDepth') },
    dav_access: { in: ANYWHERE, args: [1, 2, 3], set: access('access') },
  },
});

// nginx: ngx_http_dav_handler.
function handle(r: Request, conf: Readonly<DavSettings>): Result {
  switch (r.methodBit & conf.methods) {
    case METHOD.PUT:
      return put(r, conf);
    case METHOD.DELETE:
      return deleteResource(r, conf);
    case METHOD.MKCOL:
      return makeCollection(r, conf);
    case METHOD.COPY:
    case METHOD.MOVE:
      return copyOrMove(r, conf);
    default:
      return DECLINED;
  }
}

/** PUT, DELETE, MKCOL, COPY and MOVE on files. nginx: ngx_http_dav_module. */
export const davModule = defineModule({
  name: 'dav',
  location: scope,
  phases: { content: (conf) => (conf.methods === 0 ? undefined : (r) => handle(r, conf)) },
});
