import type { ConnectionCounters } from '../../worker/connections/counters.js';
import type { HeldConnection } from '../../worker/connections/held-list.js';
import { IdleQueue } from '../../worker/connections/idle-queue.js';
import type { WorkerEnv } from '../../worker/env.js';
import type { Opened } from '../../worker/http/connection/opened.js';
import { type Http1Host, RequestIos } from '../../worker/http/http1/request-io.js';
import type { AddressRuntime, ListenerRuntime } from '../../worker/http/request/address-runtime.js';
import type { HttpRuntime } from '../../worker/http/request/http-runtime.js';
import { type HeadLimits, type HeadOwner, HeadParser } from '../../worker/http/syntax/head-parser.js';
import { type CipherOwner, TlsPeer } from '../../worker/tls/peer.js';
import { tlsSlot } from '../../worker/tls/server-tls.js';
import type { MemorySocket } from './memory-socket.js';

/** Where a rehearsed request comes in. */
export interface Arrival {
  readonly listener: ListenerRuntime;
  readonly address: AddressRuntime;
  /** The local address of the connection. */
  readonly local: string;
}

/**
 * Finds the listening address that a connection to `host` (an address, a path of a Unix-domain socket, or a name, which stands for every
 * address) and `port` would reach. Undefined: nothing listens there.
 */
export function arrivalOf(http: HttpRuntime, host: string, port: number): Arrival | undefined {
  const any = (address: AddressRuntime): boolean => address.address === undefined;
  const matches: Arrival[] = [];
  for (const listener of http.listeners) {
    for (const address of listener.addresses) {
      if (listener.unix ? host === address.address : address.port === port) {
        const six = listener.key.startsWith('[');
        matches.push({ listener, address, local: address.address ?? (six ? '::1' : '127.0.0.1') });
      }
    }
  }
  const literal = /^[\d.]+$/.test(host) || host.includes(':') || host.startsWith('/');
  const exact = matches.find(({ address }) => address.address === host);
  if (exact !== undefined || !literal) {
    return exact ?? matches.find(({ address }) => any(address)) ?? matches[0];
  }
  const family = matches.find(({ address, local }) => any(address) && local.includes(':') === host.includes(':'));
  const wildcard = family ?? matches.find(({ address }) => any(address));
  return wildcard === undefined ? undefined : { ...wildcard, local: host };
}

/** What an in-memory connection is given instead of an acceptor. */
export class RehearsalHost implements Http1Host {
  readonly idle = new IdleQueue();
  readonly requestIos = new RequestIos(this);
  readonly draining = false;
  readonly env: WorkerEnv;
  readonly counters: ConnectionCounters;

  constructor(env: WorkerEnv, counters: ConnectionCounters) {
    this.env = env;
    this.counters = counters;
  }

  takeParser(limits: HeadLimits, owner: HeadOwner): HeadParser {
    const parser = new HeadParser(limits, owner);
    parser.reset(limits, owner);
    return parser;
  }

  giveParser(): void {}

  countStatus(): void {}

  uncount(_connection: HeldConnection): void {}

  connectionClosed(): void {}
}

/** What the opening of a connection would have found: TLS with the usual parameters, and a header of the PROXY protocol. */
export function openedFor(address: AddressRuntime, socket: MemorySocket, tls: boolean, sni: string | undefined): Opened | undefined {
  const proxyProtocol = address.proxyProtocol
    ? {
        sourceAddress: socket.remote().address ?? '',
        sourcePort: socket.remote().port ?? 0,
        destinationAddress: socket.local().address ?? '',
        destinationPort: socket.local().port ?? 0,
        tlvs: Buffer.alloc(0),
      }
    : undefined;
  if (!tls) {
    return { tls: undefined, proxyProtocol, plainOnTls: address.tls !== undefined };
  }
  const named = sni === undefined ? undefined : address.find(sni, null);
  const server = named ?? address.defaultServer;
  const peer = new TlsPeer({ cipher: usualCipher(sni) }, undefined, server.conf(tlsSlot));
  return {
    tls: { socket, peer, server, serverName: named === undefined ? undefined : sni, http2: false },
    proxyProtocol,
    plainOnTls: false,
  };
}

/** The parameters that a client of today agrees on, without a certificate of its own. */
const usualCipher = (sni: string | undefined): CipherOwner['cipher'] =>
  ({
    getServername: () => sni ?? false,
    getProtocol: () => 'TLSv1.3',
    getCipher: () => ({ name: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' }),
    getSession: () => undefined,
    isSessionReused: () => false,
    getALPNNegotiatedProtocol: () => 'http/1.1',
    getPeerX509Certificate: () => undefined,
    getEphemeralKeyInfo: () => ({}),
  }) as unknown as CipherOwner['cipher'];
