import { isIpWithoutZone } from '../../../shared/address/zone-id.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ClientTask } from '../../task/client-task.js';
import type { BackendUser } from './backend-user.js';
import type { ConnectOptions } from './connector.js';

const anyAddress: ConnectOptions = { localAddress: undefined, localPort: undefined, keepAlive: false };
const anyAddressProbed: ConnectOptions = { localAddress: undefined, localPort: undefined, keepAlive: true };

/** An address with an optional port, as `*_bind` takes it; undefined when it is none. nginx: ngx_parse_addr_port. */
export function parseLocalAddress(text: string): { address: string; port: number | undefined } | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const found = bracketed ?? (isIpWithoutZone(text) ? [text, text, undefined] : /^([^:]+):(\d+)$/.exec(text));
  if (found === null || !isIpWithoutZone(found[1]!)) {
    return undefined;
  }
  if (found[2] === undefined) {
    return { address: found[1]!, port: undefined };
  }
  const port = Number(found[2]);
  return port >= 1 && port <= 65535 ? { address: found[1]!, port } : undefined;
}

/** `*_bind` and `*_socket_*`. */
export interface SocketSettings {
  readonly bind: { readonly value: ComplexValue<ClientTask>; readonly transparent: boolean } | null;
  readonly socketKeepalive: boolean;
  readonly socketRcvbuf: number;
  readonly socketSndbuf: number;
}

/** The value of `*_bind` for a request or session; empty without one. */
export const boundTo = (u: BackendUser, { bind }: SocketSettings): string => (bind === null ? '' : bind.value.eval(u.r));

/** From where the connections for a request or session are made; `text`: see {@link boundTo}. nginx: ngx_http_upstream_set_local. */
export function localAddress(u: BackendUser, settings: SocketSettings, text: string = boundTo(u, settings)): ConnectOptions {
  const { bind, socketKeepalive, socketRcvbuf: rcvbuf, socketSndbuf: sndbuf } = settings;
  const usual = socketKeepalive ? anyAddressProbed : anyAddress;
  const unbound = rcvbuf === 0 && sndbuf === 0 ? usual : { ...usual, rcvbuf, sndbuf };
  if (bind === null) {
    return unbound;
  }
  u.peer.bindTo(text);
  if (text === '') {
    return unbound;
  }
  const parsed = parseLocalAddress(text);
  if (parsed === undefined) {
    u.log(ERROR, `invalid local address "${text}"`);
    return unbound;
  }
  const { address, port } = parsed;
  return { localAddress: address, localPort: port, transparent: bind.transparent, keepAlive: socketKeepalive, rcvbuf, sndbuf };
}
