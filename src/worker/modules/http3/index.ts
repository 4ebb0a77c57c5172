import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag, int, size } from '../../../shared/config/slots.js';
import { type Http3Settings, http3Slot } from '../../http/http3/http3-settings.js';
import { defineModule, defineScope } from '../../module.js';

const HTTP_SERVER = In.HTTP | In.SERVER;

/**
 * HTTP/3 for clients: its directives and `$http3`. nginx: ngx_http_v3_module. The protocol itself is in `worker/http/http3`, the transport
 * in `worker/net/quic`.
 */
export const http3Module = defineModule({
  name: 'http3',
  server: defineScope<Http3Settings>({
    fields: {
      http3: inherit(true),
      http3Hq: inherit(false),
      http3MaxConcurrentStreams: inherit(128),
      http3StreamBufferSize: inherit(65536),
    },
    directives: {
      http3: { in: HTTP_SERVER, args: 'flag', set: flag('http3') },
      http3_hq: { in: HTTP_SERVER, args: 'flag', set: flag('http3Hq') },
      http3_max_concurrent_streams: { in: HTTP_SERVER, args: 1, set: int('http3MaxConcurrentStreams') },
      http3_stream_buffer_size: { in: HTTP_SERVER, args: 1, set: size('http3StreamBufferSize') },
    },
  }),
  location: defineScope<object>({ fields: {}, directives: {} }),
  variables: [
    {
      name: 'http3',
      // Not by the request's version: a backend without a status line makes that 0.9.
      get: (r) => r.connection.overQuic ?? '',
    },
  ],
  serverSlot: http3Slot,
});
