import { In } from '../../../shared/config/context.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { parseInteger } from '../../../shared/config/slots.js';
import { type Context, defineModule, defineScope } from '../../module.js';

const HTTP_SERVER = In.HTTP | In.SERVER;
const LOCATION = In.HTTP | In.SERVER | In.LOCATION;

type Check = (node: DirectiveNode, ctx: Context) => void;

const anything: Check = () => {};
const size: Check = (node, ctx) => void (parseSize(node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }));
const number: Check = (node, ctx) => void parseInteger(node.args[0]!, ctx);

/** A setting of a protocol that is not spoken here. */
const idle = (where: number, args: 'flag' | 1 | 2, check: Check = anything) => ({
  in: where,
  args,
  set(_conf: object, node: DirectiveNode, ctx: Context): void {
    if (node.args[0]!.toLowerCase() === 'off' && args === 'flag') return;
    check(node, ctx);
    const protocol = node.name.startsWith('http2') ? 'HTTP/2' : 'HTTP/3';
    ctx.warn(`the "${node.name}" directive has no effect: ${protocol} is not supported yet, clients use HTTP/1.1`);
  },
});

/** A directive that newer versions of nginx do without. nginx: ngx_http_v2_obsolete. */
const obsolete = (where: number, instead?: string, args: 1 | 'flag' = 1) => ({
  in: where,
  args,
  set(_conf: object, node: DirectiveNode, ctx: Context): void {
    ctx.warn(
      instead === undefined
        ? `the "${node.name}" directive is obsolete, ignored`
        : `the "${node.name}" directive is obsolete, use the "${instead}" directive instead`,
    );
  },
});

const scope = defineScope<object>({
  fields: {},
  directives: {
    http2: idle(HTTP_SERVER, 'flag'),
    http2_recv_buffer_size: idle(In.HTTP, 1, size),
    http2_pool_size: idle(HTTP_SERVER, 1, size),
    http2_max_concurrent_streams: idle(HTTP_SERVER, 1, number),
    http2_max_concurrent_pushes: obsolete(HTTP_SERVER),
    http2_max_requests: obsolete(HTTP_SERVER, 'keepalive_requests'),
    http2_max_field_size: obsolete(HTTP_SERVER, 'large_client_header_buffers'),
    http2_max_header_size: obsolete(HTTP_SERVER, 'large_client_header_buffers'),
    http2_body_preread_size: idle(HTTP_SERVER, 1, size),
    http2_streams_index_size: idle(HTTP_SERVER, 1, number),
    http2_recv_timeout: obsolete(HTTP_SERVER, 'client_header_timeout'),
    http2_idle_timeout: obsolete(HTTP_SERVER, 'keepalive_timeout'),
    http2_chunk_size: idle(LOCATION, 1, size),
    http2_push_preload: obsolete(LOCATION, undefined, 'flag'),
    http2_push: obsolete(LOCATION),
    http3: idle(HTTP_SERVER, 'flag'),
    http3_hq: idle(HTTP_SERVER, 'flag'),
    http3_max_concurrent_streams: idle(HTTP_SERVER, 1, number),
    http3_stream_buffer_size: idle(HTTP_SERVER, 1, size),
    quic_retry: idle(HTTP_SERVER, 'flag'),
    quic_gso: idle(HTTP_SERVER, 'flag'),
    quic_host_key: idle(HTTP_SERVER, 1),
    quic_active_connection_id_limit: idle(HTTP_SERVER, 1, number),
  },
});

/** The directives of HTTP/2 and HTTP/3: checked, and answered with a warning that clients get HTTP/1.1. */
export const http2Module = defineModule({
  name: 'http2',
  location: scope,
  variables: [
    { name: 'http2', get: () => undefined },
    { name: 'http3', get: () => undefined },
  ],
});
