import { hostname, networkInterfaces } from 'node:os';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { accepted, flag, parseInteger } from '../../../shared/config/slots.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import { type RedirectSettings, redirectSlot } from '../../http/serving/absolute-location.js';
import type { Listen } from '../../listening/listen.js';
import { AddressBook, checkListeners, serversOf } from '../../listening/listeners.js';
import { type ListenersInfo, takeListen, takeNames } from '../../listening/server-lines.js';
import type { ServerName } from '../../listening/server-name.js';
import { defineModule, defineScope, made } from '../../module.js';
import { whyNoQuic } from '../../net/openssl/quic-library.js';
import { checkDuplicates, openLocation } from './location.js';

/** Settings of a `server {}` that say where and for whom it answers. */
export interface ServerNames {
  listens: readonly Listen[];
  names: readonly ServerName[];
  /** `ssl on`, as in configurations for old versions: every `listen` has `ssl`. */
  ssl: boolean;
  /** `https`: null where it does not apply. */
  https: HttpsListening | null;
}

/** What `https` says about where a server listens. */
interface HttpsListening {
  /** Requests without TLS are sent to the port with it. */
  readonly redirect: boolean;
  /** HTTP/3 is spoken where TLS is. */
  readonly http3: boolean;
}

/** The scope itself, for the code that sorts servers by address and name. */
export const namesScope = defineScope<ServerNames>({
  fields: {
    listens: own<readonly Listen[]>([]),
    names: own<readonly ServerName[]>([]),
    ssl: inherit(false),
    https: inherit<HttpsListening | null>(null),
  },
  directives: {
    http: {
      in: In.MAIN,
      args: 0,
      block: 'directives',
      set(_conf, node, ctx) {
        if (ctx.block.seen('http') !== undefined) {
          ctx.reject('is duplicate');
        }
        ctx.block.see(node);
        ctx.openBlock(node, In.HTTP, { kind: 'root', name: '', book: new AddressBook() } satisfies LocationInfo & ListenersInfo);
      },
    },
    server: {
      in: In.HTTP,
      args: 0,
      block: 'directives',
      set(_conf, node, ctx) {
        ctx.openBlock(node, In.SERVER, { kind: 'root', name: '' });
      },
    },
    location: { in: In.SERVER | In.LOCATION, args: [1, 2], block: 'directives', set: (_conf, node, ctx) => openLocation(node, ctx) },
    listen: {
      in: In.SERVER,
      args: { min: 1 },
      set(conf, node, ctx) {
        takeListen(conf, node, ctx);
        const host = conf.listens?.at(-1)?.host?.host;
        if (host !== undefined) {
          const info = ctx.block.info as LocationInfo;
          info.listenNames = [...(info.listenNames ?? []), host.toLowerCase()];
        }
      },
    },
    ssl: {
      in: In.HTTP | In.SERVER,
      args: 'flag',
      set(conf, node, ctx) {
        flag<'ssl', Request>('ssl')(conf, node, ctx);
        ctx.warn('the "ssl" directive is deprecated, use the "listen ... ssl" directive instead');
      },
    },
    server_name: {
      in: In.SERVER,
      args: { min: 1 },
      set(conf, node, ctx) {
        (ctx.block.info as LocationInfo).serverNames = takeNames(conf, node, ctx);
      },
    },
  },
  finish(conf, parent, { context }) {
    if (context !== In.SERVER) {
      return;
    }
    if (conf.https !== null) {
      listenForHttps(conf, conf.https !== parent?.https);
    }
    // nginx: ngx_http_init_server_lists: a server without `listen` answers on port 80, or 8000 without the right to.
    if (conf.listens.length === 0) {
      conf.listens = [defaultListen('ipv4', httpPort(), false)];
    }
    if (conf.ssl) {
      conf.listens = conf.listens.map((listen) => ({ ...listen, ssl: true }));
    }
    if (conf.names.length === 0) {
      conf.names = [{ kind: 'exact', text: '', name: '' }];
    }
  },
  link(_conf, ctx, place) {
    if (place.context === In.HTTP) {
      checkListeners(
        serversOf(place.block, (block) => ctx.settings(namesScope, block)),
        ctx,
      );
    }
  },
});

const isRoot = process.getuid?.() === 0;
const httpPort = (): number => (isRoot ? 80 : 8000);
const httpsPort = (): number => (isRoot ? 443 : 8443);

/**
 * Where a server with `https` listens beside what it says itself. A setting of the whole `http` block leaves servers alone that have no
 * name, or that listen on other ports than 80 and without TLS. `own`: the server itself has the directive.
 */
function listenForHttps(conf: ServerNames, own: boolean): void {
  const { listens } = conf;
  const named = conf.names.some(({ kind, text }) => kind !== 'regex' && text !== '');
  const plain = listens.length > 0 && !listens.some(({ ssl }) => ssl);
  if (!own && (!named || (plain && !listens.some(({ ports }) => ports.includes(80))))) {
    conf.https = null;
    return;
  }
  const families = hasIpv6() ? (['ipv4', 'ipv6'] as const) : (['ipv4'] as const);
  if (listens.length === 0) {
    conf.listens = families.flatMap((family) => [defaultListen(family, httpPort(), false), defaultListen(family, httpsPort(), true)]);
  } else if (plain) {
    conf.listens = [...listens, ...families.map((family) => defaultListen(family, httpsPort(), true))];
  }
  if (conf.https?.http3 && !conf.listens.some(({ quic }) => quic)) {
    const secure = conf.listens.filter(({ ssl, family, proxyProtocol }) => ssl && family !== 'unix' && !proxyProtocol);
    conf.listens = [...conf.listens, ...secure.map((listen) => ({ ...listen, ssl: false, http2: false, quic: true, options: NO_OPTIONS }))];
  }
}

/** Whether this machine has IPv6: where it is off, no socket of it can be made. */
const hasIpv6 = (): boolean => Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'));

/** The port to which a server's requests without TLS are sent; 0 for none. */
function redirectPort({ https, listens }: ServerNames): number {
  return https?.redirect ? (listens.find(({ ssl, quic }) => ssl && !quic)?.ports[0] ?? 0) : 0;
}

function defaultListen(family: 'ipv4' | 'ipv6', port: number, ssl: boolean): Listen {
  return {
    pos: { file: '', line: 0, column: 0 },
    text: family === 'ipv4' ? String(port) : `[::]:${port}`,
    family,
    address: family === 'ipv4' ? '*' : '::',
    host: undefined,
    ports: [port],
    defaultServer: false,
    ssl,
    http2: false,
    quic: false,
    udp: false,
    proxyProtocol: false,
    options: NO_OPTIONS,
  };
}

const NO_OPTIONS: Listen['options'] = {
  backlog: undefined,
  ipv6only: undefined,
  reuseport: false,
  soKeepalive: undefined,
  extras: undefined,
  bind: false,
  set: false,
};

/** What tells clients of a server with `https` that it has HTTP/3, too; empty where it has not. */
function alternativeOf({ https, listens }: ServerNames): string {
  const port = https === null || whyNoQuic() !== '' ? undefined : listens.find(({ quic }) => quic)?.ports[0];
  return port === undefined ? '' : `h3=":${port}"; ma=86400`;
}

const hashSize = accepted<Request>((ctx) => void parseInteger(ctx.node.args[0]!, ctx, 0));

// nginx: ngx_http_core_pool_size.
const poolSize = accepted<Request>((ctx) => {
  if (ctx.block.seen(ctx.node.name) !== undefined) {
    ctx.reject('is duplicate');
  }
  const size = parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value');
  if (size < 112) {
    ctx.fail('the pool size must be no less than 112', { arg: 0 });
  }
  if (size % 16 !== 0) {
    ctx.fail('the pool size must be a multiple of 16', { arg: 0 });
  }
});

/** Settings of a whole `http {}` or `stream {}` that nginx needs for its own tables. */
const tables = defineScope<object>({
  fields: {},
  directives: {
    server_names_hash_max_size: { in: In.HTTP | In.STREAM, args: 1, set: hashSize },
    server_names_hash_bucket_size: { in: In.HTTP | In.STREAM, args: 1, set: hashSize },
    variables_hash_max_size: { in: In.HTTP | In.STREAM, args: 1, set: hashSize },
    variables_hash_bucket_size: { in: In.HTTP | In.STREAM, args: 1, set: hashSize },
    connection_pool_size: { in: In.HTTP | In.SERVER, args: 1, set: poolSize },
    request_pool_size: { in: In.HTTP | In.SERVER, args: 1, set: poolSize },
  },
});

const redirects = defineScope<RedirectSettings>({
  fields: { absoluteRedirect: inherit(true), portInRedirect: inherit(true), serverNameInRedirect: inherit(false) },
  directives: {
    absolute_redirect: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('absoluteRedirect') },
    port_in_redirect: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('portInRedirect') },
    server_name_in_redirect: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('serverNameInRedirect') },
  },
  link: (_conf, _ctx, { block }) => checkDuplicates(block),
});

/** `http`, `server`, `location`, `listen`, `server_name` and how redirects name this server. */
export const serverModule = defineModule({
  name: 'server',
  main: tables,
  server: namesScope,
  location: redirects,
  serverSlot: made(nameSlot, (conf: Readonly<ServerNames>) => ({
    serverName: conf.names[0]?.text ?? hostname(),
    httpsPort: redirectPort(conf),
    alternative: alternativeOf(conf),
  })),
  slot: redirectSlot,
});
