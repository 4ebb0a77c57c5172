import { LocationSlot, ServerSlot } from '../../task/settings-slot.js';
import type { OfferedProtocols } from '../../tls/tls-address.js';

/** What a server is called. */
export interface StreamNames {
  readonly serverName: string;
  /** What it is called where its sessions are counted: by its first name, else by the first `listen`. */
  readonly label: string;
}

export const streamNameSlot = new ServerSlot<StreamNames>();

/** How long a session's first bytes are waited for, in milliseconds. */
export interface SessionSettings {
  proxyProtocolTimeout: number;
  /** Bytes. */
  prereadBufferSize: number;
  prereadTimeout: number;
}

export const sessionSlot = new LocationSlot<Readonly<SessionSettings>>();

/** How handshakes of sessions run. */
export interface SessionHandshakes {
  /** Milliseconds. */
  readonly handshakeTimeout: number;
  /** The names of ALPN that are offered; undefined where ALPN is not answered. */
  readonly alpn: OfferedProtocols | undefined;
}

export const sessionTlsSlot = new LocationSlot<SessionHandshakes>();
