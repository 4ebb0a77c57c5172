import { In } from '../../../shared/config/context.js';
import type { FileInfo } from '../../files/file-info.js';
import { sendRequested } from '../../http/files/requested-file.js';
import { respondFile, respondHeaded } from '../../http/files/respond-file.js';
import type { Request } from '../../http/request/request.js';
import { argValue } from '../../http/syntax/uri-args.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import type { Result } from '../../task/codes.js';

/** What a player wants in front of tags from the middle of a film: version 1, sound and pictures, nine bytes, no tag before. */
const HEADER = Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0', 'latin1');

/** Sends Flash videos from a given byte on. nginx: ngx_http_flv_module. */
export const flvModule = defineModule({
  name: 'flv',
  location: defineScope<object>({
    fields: {},
    directives: {
      flv: { in: In.LOCATION, args: 0, set: (_conf, _node, ctx) => claimContent(ctx, 'flv') },
    },
  }),
  handler: () => sendFlv,
});

// nginx: ngx_http_flv_handler.
function sendFlv(r: Request): Result {
  return sendRequested(r, 'flv', sendFrom);
}

function sendFrom(r: Request, path: string, info: FileInfo): Result {
  const start = r.args === '' ? 0 : firstByte(r.args, info.size);
  return start === 0 ? respondFile(r, path, info) : respondHeaded(r, path, info, HEADER, start, info.size);
}

/** The byte that the argument `start` names; 0 where it is no number, or none of the file's bytes. nginx: ngx_atoof. */
function firstByte(args: string, size: number): number {
  const text = argValue(args, 'start') ?? '';
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) {
      return 0;
    }
    start = start * 10 + digit;
  }
  return start < size ? start : 0;
}
