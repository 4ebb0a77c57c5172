import { In } from '../../../shared/config/context.js';
import { type Directive, inherit, own } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { flag, int, msec, oneOf, size } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseBackendUrl } from '../../address/backend-url.js';
import { claimContent, defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { bindAddress } from '../../upstream/directives/bind.js';
import { socketBuffer } from '../../upstream/directives/socket-buffer.js';
import { linkTlsClient, tlsClientDirectives, tlsClientFields } from '../../upstream/directives/tls-directives.js';
import { declareGroup } from '../../upstream/group/group-config.js';
import { type StreamServerInfo, streamBackendSlot } from '../../upstream/health/stream-backend.js';
import { DatagramProxy } from './datagram-proxy.js';
import { compileServer } from './proxied-server.js';
import { SessionProxy } from './session-proxy.js';
import type { StreamPass, StreamProxySettings } from './settings.js';

const ANYWHERE = In.STREAM | In.STREAM_SERVER;

type Row = Directive<StreamProxySettings, ClientTask>;

// nginx: ngx_stream_set_complex_value_size_slot.
const rate =
  (key: 'uploadRate' | 'downloadRate'): Row['set'] =>
  (conf, node, ctx) => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const value = ctx.complex(node.args[0]!);
    if (value.constant !== undefined && parseSize(value.constant) === undefined) {
      ctx.reject('invalid value', { arg: 0 });
    }
    conf[key] = value;
  };

/** An old name of `proxy_buffer_size`. nginx: ngx_conf_deprecated. */
const oldBufferSize: Row['set'] = (conf, node, ctx) => {
  size<'bufferSize', ClientTask>('bufferSize')(conf, node, ctx);
  ctx.warn(`the "${node.name}" directive is deprecated, use the "proxy_buffer_size" directive instead`);
};

// nginx: ngx_stream_proxy_pass.
const pass: Row['set'] = (conf, node, ctx) => {
  if (conf.pass !== undefined) {
    ctx.reject('is duplicate');
  }
  claimContent(ctx, 'stream_proxy');
  const text = node.args[0]!;
  const value = ctx.complex(text);
  if (value.constant === undefined) {
    conf.pass = { fixed: undefined, dynamic: value };
    return;
  }
  const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    ctx.fail(`${url} in upstream "${text}"`, { arg: 0 });
  } else {
    const fixed = declareGroup(ctx, url.host, url);
    (ctx.block.info as StreamServerInfo).backend = fixed;
    conf.pass = { fixed, dynamic: undefined };
  }
};

// nginx: ngx_stream_proxy_ssl_alpn_set_slot.
const alpn: Row['set'] = (conf, node, ctx) => {
  if (conf.sslAlpn !== undefined) {
    ctx.reject('is duplicate');
  }
  conf.sslAlpn = node.args.map((text, i) => {
    const value = ctx.complex(text);
    return value.constant !== undefined && text.length > 255 ? ctx.reject('protocol too long', { arg: i }) : value;
  });
};

const scope = defineSharedScope<StreamProxySettings>({
  fields: {
    ...tlsClientFields,
    pass: own<StreamPass | undefined>(undefined),
    connectTimeout: inherit(60_000),
    timeout: inherit(600_000),
    nextUpstream: inherit(true),
    nextUpstreamTimeout: inherit(0),
    nextUpstreamTries: inherit(0),
    bufferSize: inherit(16 * 1024),
    uploadRate: inherit<ComplexValue<ClientTask> | undefined>(undefined),
    downloadRate: inherit<ComplexValue<ClientTask> | undefined>(undefined),
    requests: inherit(0),
    responses: inherit(-1),
    proxyProtocol: inherit<StreamProxySettings['proxyProtocol']>(0),
    bind: inherit<StreamProxySettings['bind']>(null),
    socketKeepalive: inherit(false),
    socketRcvbuf: inherit(0),
    socketSndbuf: inherit(0),
    halfClose: inherit(false),
    ssl: inherit(false),
    sslAlpn: inherit<StreamProxySettings['sslAlpn']>(undefined),
  },
  directives: {
    ...tlsClientDirectives('proxy', ANYWHERE),
    proxy_pass: { in: In.STREAM_SERVER, args: 1, set: pass },
    proxy_bind: { in: ANYWHERE, args: [1, 2], set: bindAddress },
    proxy_socket_keepalive: { in: ANYWHERE, args: 'flag', set: flag('socketKeepalive') },
    proxy_socket_rcvbuf: { in: ANYWHERE, args: 1, set: socketBuffer('socketRcvbuf') },
    proxy_socket_sndbuf: { in: ANYWHERE, args: 1, set: socketBuffer('socketSndbuf') },
    proxy_connect_timeout: { in: ANYWHERE, args: 1, set: msec('connectTimeout') },
    proxy_timeout: { in: ANYWHERE, args: 1, set: msec('timeout') },
    proxy_buffer_size: { in: ANYWHERE, args: 1, set: size('bufferSize') },
    proxy_downstream_buffer: { in: ANYWHERE, args: 1, set: oldBufferSize },
    proxy_upstream_buffer: { in: ANYWHERE, args: 1, set: oldBufferSize },
    proxy_upload_rate: { in: ANYWHERE, args: 1, set: rate('uploadRate') },
    proxy_download_rate: { in: ANYWHERE, args: 1, set: rate('downloadRate') },
    proxy_requests: { in: ANYWHERE, args: 1, set: int('requests') },
    proxy_responses: { in: ANYWHERE, args: 1, set: int('responses') },
    proxy_next_upstream: { in: ANYWHERE, args: 'flag', set: flag('nextUpstream') },
    proxy_next_upstream_tries: { in: ANYWHERE, args: 1, set: int('nextUpstreamTries') },
    proxy_next_upstream_timeout: { in: ANYWHERE, args: 1, set: msec('nextUpstreamTimeout') },
    proxy_protocol: { in: ANYWHERE, args: 1, set: oneOf('proxyProtocol', { off: 0, on: 1, v2: 2 } as const) },
    proxy_half_close: { in: ANYWHERE, args: 'flag', set: flag('halfClose') },
    proxy_ssl: { in: ANYWHERE, args: 'flag', set: flag('ssl') },
    proxy_ssl_alpn: { in: ANYWHERE, args: { min: 1 }, set: alpn },
  },
  link(conf, ctx, { context }) {
    if (conf.ssl && context === In.STREAM_SERVER) {
      linkTlsClient('proxy', conf, ctx);
    }
  },
});

/** Passes what the client sends on to a backend, and back. nginx: ngx_stream_proxy_module. */
export const streamProxyModule = defineModule({
  name: 'stream_proxy',
  location: scope,
  stream: {
    handler(conf, env, server) {
      const proxied = compileServer(conf, server, env);
      if (proxied.group !== undefined) {
        server.put(streamBackendSlot, { group: proxied.group, bufferSize: conf.bufferSize });
      }
      return (s) => (s.udp ? new DatagramProxy(s, proxied) : new SessionProxy(s, proxied)).start();
    },
  },
});
