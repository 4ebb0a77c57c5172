import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { ConfigError } from '../../../shared/config/errors.js';
import { msec, size } from '../../../shared/config/slots.js';
import type { Listen } from '../../listening/listen.js';
import { AddressBook, checkListeners, serversOf } from '../../listening/listeners.js';
import { type ListenersInfo, takeListen, takeNames } from '../../listening/server-lines.js';
import type { ServerName } from '../../listening/server-name.js';
import { defineModule, defineSharedScope, made, type StreamVariable } from '../../module.js';
import { type SessionSettings, sessionSlot, streamNameSlot } from '../../stream/session/session-settings.js';

/** Settings of a `server {}` that say where and for whom it answers. */
interface StreamServerNames {
  listens: readonly Listen[];
  names: readonly ServerName[];
}

/** The scope itself, for the code that sorts servers by address and name. */
export const streamNamesScope = defineSharedScope<StreamServerNames>({
  fields: { listens: own<readonly Listen[]>([]), names: own<readonly ServerName[]>([]) },
  directives: {
    // nginx: ngx_stream_block.
    stream: {
      in: In.MAIN,
      args: 0,
      block: 'directives',
      set(_conf, node, ctx) {
        if (ctx.block.seen('stream') !== undefined) {
          ctx.reject('is duplicate');
        }
        ctx.block.see(node);
        ctx.openBlock(node, In.STREAM, { book: new AddressBook() } satisfies ListenersInfo);
      },
    },
    // nginx: ngx_stream_core_server.
    server: {
      in: In.STREAM,
      args: 0,
      block: 'directives',
      set(_conf, node, ctx) {
        const block = ctx.openBlock(node, In.STREAM_SERVER, {});
        if (block.seen('listen') === undefined) {
          throw new ConfigError(`no "listen" is defined for server in ${node.pos.file}:${node.endLine}`);
        }
      },
    },
    listen: { in: In.STREAM_SERVER, args: { min: 1 }, set: takeListen },
    server_name: { in: In.STREAM_SERVER, args: { min: 1 }, set: takeNames },
  },
  finish(conf, _parent, { context }) {
    if (context === In.STREAM_SERVER && conf.names.length === 0) {
      conf.names = [{ kind: 'exact', text: '', name: '' }];
    }
  },
  link(_conf, ctx, place) {
    if (place.context === In.STREAM) {
      checkListeners(
        serversOf(place.block, (block) => ctx.settings(streamNamesScope, block)),
        ctx,
      );
    }
  },
});

const ANYWHERE = In.STREAM | In.STREAM_SERVER;

const settings = defineSharedScope<SessionSettings>({
  fields: {
    proxyProtocolTimeout: inherit(30_000),
    prereadBufferSize: inherit(16 * 1024),
    prereadTimeout: inherit(30_000),
  },
  directives: {
    proxy_protocol_timeout: { in: ANYWHERE, args: 1, set: msec('proxyProtocolTimeout') },
    preread_buffer_size: { in: ANYWHERE, args: 1, set: size('prereadBufferSize') },
    preread_timeout: { in: ANYWHERE, args: 1, set: msec('prereadTimeout') },
  },
});

const listenText = ({ text, udp }: Listen): string => (udp ? `${text} udp` : text);

/** nginx: ngx_stream_core_variables. */
const variables: readonly StreamVariable[] = [
  { name: 'server_name', get: (s) => s.server.conf(streamNameSlot).serverName },
  { name: 'protocol', get: (s) => (s.udp ? 'UDP' : 'TCP') },
  { name: 'status', cacheable: false, get: (s) => String(s.status).padStart(3, '0') },
  { name: 'bytes_sent', cacheable: false, get: (s) => String(s.bytesSent) },
  { name: 'bytes_received', cacheable: false, get: (s) => String(s.bytesReceived) },
  {
    name: 'session_time',
    cacheable: false,
    get: (s) => {
      const ms = Math.max(0, Math.round(performance.now() - s.acceptedAt));
      return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
    },
  },
];

/** `stream`, `server`, `listen`, `server_name`, and how long a client's first bytes are waited for. nginx: ngx_stream_core_module. */
export const streamServerModule = defineModule({
  name: 'stream_server',
  server: streamNamesScope,
  location: settings,
  stream: {
    variables,
    serverSlot: made(streamNameSlot, ({ names, listens }: Readonly<StreamServerNames>) => {
      const serverName = names[0]!.text;
      return { serverName, label: serverName || listenText(listens[0]!) };
    }),
    slot: sessionSlot,
  },
});
