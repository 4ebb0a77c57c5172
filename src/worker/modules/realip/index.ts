import { formatAddress, parseWritten } from '../../../shared/address/address.js';
import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import type { HostRef } from '../../../shared/config/define.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import { type Cidr, parseCidr } from '../../address/cidr.js';
import { forwardedAddress, type PeerAddress, TrustedPeers } from '../../address/forwarded-address.js';
import { headerValues } from '../../http/headers/header-values.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineSharedScope, type SharedVariable } from '../../module.js';
import { type ClientTask, lastingSlot } from '../../task/client-task.js';
import { DECLINED, type Result } from '../../task/codes.js';

interface Settings {
  /** Proxies whose word is taken: networks, hosts by their addresses, or clients of UNIX-domain sockets. */
  from: readonly (Cidr | HostRef | 'unix')[];
  /** Lower-case name of the header that has the address, or 'proxy_protocol'. */
  header: string;
  recursive: boolean;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const STREAM = In.STREAM | In.STREAM_SERVER;
const PROXY_PROTOCOL = 'proxy_protocol';

const scope = defineSharedScope<Settings>({
  fields: {
    from: inherit<Settings['from']>([]),
    header: inherit('x-real-ip'),
    recursive: inherit(false),
  },
  directives: {
    // Syntax: set_real_ip_from address | CIDR | hostname | unix:;
    set_real_ip_from: {
      in: ANYWHERE | STREAM,
      args: 1,
      set(conf, node, ctx) {
        const text = node.args[0]!;
        const cidr = text === 'unix:' ? 'unix' : parseCidr(text);
        if (typeof cidr === 'object' && cidr.lowBits) {
          ctx.warn(`low address bits of ${text} are meaningless`, { arg: 0 });
        }
        conf.from = append(conf.from, cidr ?? ctx.host(text, 'set_real_ip_from'));
      },
    },
    // Syntax: real_ip_header field | X-Real-IP | X-Forwarded-For | proxy_protocol;
    real_ip_header: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.header !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.header = node.args[0]!.toLowerCase();
      },
    },
    // Syntax: real_ip_recursive on | off;
    real_ip_recursive: { in: ANYWHERE, args: 'flag', set: flag('recursive') },
  },
});

/** Where a connection really comes from, while its requests show another address. */
interface Original {
  readonly address: string;
  readonly port: number;
}

const ORIGINAL = lastingSlot<Original | undefined>();

const originalOf = (r: ClientTask): Original => ORIGINAL.get(r) ?? { address: r.connection.remoteAddress, port: r.connection.remotePort };

// nginx: ngx_http_realip_handler.
function handler({ header, recursive }: Readonly<Settings>, trusted: TrustedPeers): (r: Request) => Result {
  return (r) => {
    const { main } = r;
    if (ORIGINAL.get(r) !== undefined) {
      return DECLINED;
    }
    const values = valuesOf(r, header);
    if (values.length === 0) {
      return DECLINED;
    }
    const { connection } = r;
    const peer: PeerAddress = parseWritten(connection.remoteAddress) ?? 'unix';
    const found = forwardedAddress(peer, values, trusted, recursive);
    if (found === undefined) {
      return DECLINED;
    }
    const original = originalOf(r);
    ORIGINAL.set(r, original);
    r.trace?.add(
      r,
      'access',
      `the client's address is ${formatAddress(found.address)}, by ${header}, and not ${original.address}`,
      { in: r.location, directive: 'real_ip_header' },
      { from: original.address, to: formatAddress(found.address) },
    );
    connection.remoteAddress = formatAddress(found.address);
    connection.remotePort = header === PROXY_PROTOCOL ? (connection.proxyProtocol?.sourcePort ?? 0) : found.port;
    main.onFinish(() => {
      connection.remoteAddress = original.address;
      connection.remotePort = original.port;
    });
    return DECLINED;
  };
}

/** Only X-Forwarded-For may be spread over several header lines; of others the first counts. */
function valuesOf(r: Request, header: string): readonly string[] {
  if (header === 'x-forwarded-for') {
    return headerValues(r, header);
  }
  const value = header === PROXY_PROTOCOL ? r.connection.proxyProtocol?.sourceAddress : r.header(header);
  return value === undefined ? [] : [value];
}

/** Undefined where nobody is trusted. */
function trustedPeers({ from }: Readonly<Settings>): TrustedPeers | undefined {
  if (from.length === 0) {
    return undefined;
  }
  const networks = from.flatMap((each) => {
    if (each === 'unix') {
      return [];
    }
    return 'first' in each ? [each] : each.addresses.map((address) => parseCidr(address)!);
  });
  return new TrustedPeers(networks, from.includes('unix'));
}

const build = (conf: Readonly<Settings>): ((r: Request) => Result) | undefined => {
  const trusted = trustedPeers(conf);
  return trusted === undefined ? undefined : handler(conf, trusted);
};

/** Sessions know of the PROXY protocol alone. nginx: ngx_stream_realip_handler. */
const buildStream = (conf: Readonly<Settings>): ((s: ClientTask) => Result) | undefined => {
  const trusted = trustedPeers(conf);
  if (trusted === undefined) {
    return undefined;
  }
  return (s) => {
    const { connection } = s;
    const { proxyProtocol } = connection;
    if (proxyProtocol === undefined) {
      return DECLINED;
    }
    const peer: PeerAddress = parseWritten(connection.remoteAddress) ?? 'unix';
    const found = forwardedAddress(peer, [proxyProtocol.sourceAddress], trusted, false);
    if (found !== undefined) {
      ORIGINAL.set(s, originalOf(s));
      connection.remoteAddress = formatAddress(found.address);
      connection.remotePort = proxyProtocol.sourcePort;
    }
    return DECLINED;
  };
};

const variables: readonly SharedVariable[] = [
  { name: 'realip_remote_addr', get: (r) => originalOf(r).address },
  {
    name: 'realip_remote_port',
    get(r) {
      const { port } = originalOf(r);
      return port > 0 ? String(port) : '';
    },
  },
];

/**
 * Takes the client's address from a header that a trusted proxy sent. nginx: ngx_http_realip_module, ngx_stream_realip_module.
 */
export const realipModule = defineModule({
  name: 'realip',
  location: scope,
  phases: { postRead: build, preaccess: build },
  variables,
  stream: { variables, phases: { postAccept: buildStream } },
});
