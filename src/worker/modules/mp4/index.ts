import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag, size } from '../../../shared/config/slots.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { sendMp4 } from './handler.js';
import { type Mp4Settings, mp4Slot } from './settings.js';

const HTTP_SERVER_LOCATION = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<Mp4Settings>({
  fields: {
    bufferSize: inherit(512 * 1024),
    maxBufferSize: inherit(10 * 1024 * 1024),
    startKeyFrame: inherit(false),
  },
  directives: {
    mp4: { in: In.LOCATION, args: 0, set: (_conf, _node, ctx) => claimContent(ctx, 'mp4') },
    mp4_buffer_size: { in: HTTP_SERVER_LOCATION, args: 1, set: size('bufferSize') },
    mp4_max_buffer_size: { in: HTTP_SERVER_LOCATION, args: 1, set: size('maxBufferSize') },
    mp4_start_key_frame: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('startKeyFrame') },
  },
});

/** Sends MP4 films from one time to another. nginx: ngx_http_mp4_module. */
export const mp4Module = defineModule({
  name: 'mp4',
  location: scope,
  slot: mp4Slot,
  handler: () => sendMp4,
});
