import { In } from '../../../shared/config/context.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';

/** A transparent GIF of one pixel: version 89a, two colours, the first of them transparent. */
const GIF = Buffer.from('R0lGODlhAQABAIABAAAAAP///yH5BAEAAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');
/** The image's modification time, which never changes, so that clients may keep it: Mon, 28 Sep 1970 06:00:00 GMT. */
const LAST_MODIFIED = 23_349_600;

/** Answers with the smallest picture there is. nginx: ngx_http_empty_gif_module. */
export const emptyGifModule = defineModule({
  name: 'empty_gif',
  location: defineScope<object>({
    fields: {},
    directives: {
      empty_gif: {
        in: In.LOCATION,
        args: 0,
        set: (_conf, _node, ctx) => claimContent(ctx, 'empty_gif'),
      },
    },
  }),
  handler: () => sendGif,
});

function sendGif(r: Request): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  const broken = discardBody(r);
  if (broken !== OK) {
    return broken;
  }
  r.out.contentType = 'image/gif';
  r.out.lastModified = LAST_MODIFIED;
  return respondBuffer(r, 200, GIF);
}
