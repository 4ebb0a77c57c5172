import type { LinkContext, MergeContext } from '../../shared/config/define.js';
import type { Pos } from '../../shared/config/language/ast.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { ClientTask } from '../task/client-task.js';
import type { FleetKeyZoneRef } from './fleet-key-zone.js';
import type { SessionZone } from './sessions.js';

/** Versions of TLS by bit. nginx: NGX_SSL_TLSv1 and the others. */
export const TLS = { SSL_2: 2, SSL_3: 4, TLS_1: 8, TLS_1_1: 16, TLS_1_2: 32, TLS_1_3: 64 } as const;

/** The words of `ssl_protocols`. nginx: ngx_http_ssl_protocols. */
export const protocolWords = {
  sslv2: TLS.SSL_2,
  sslv3: TLS.SSL_3,
  tlsv1: TLS.TLS_1,
  'tlsv1.1': TLS.TLS_1_1,
  'tlsv1.2': TLS.TLS_1_2,
  'tlsv1.3': TLS.TLS_1_3,
} as const;

/**
 * `ssl_verify_client`: no certificate is asked for; required; asked for and checked; asked for, and the result only in
 * `$ssl_client_verify`.
 */
export type VerifyMode = 'off' | 'on' | 'optional' | 'optional_no_ca';

/** `ssl_session_cache`: where sessions are kept. */
export interface SessionCache {
  /**
   * Number of sessions that a worker keeps for itself; `none`: nobody keeps any, whatever zone there is; `off`: clients are told so, too.
   * Undefined where only a zone was named.
   */
  readonly builtin: number | 'off' | 'none' | undefined;
  readonly zone: ZoneRef<SessionZone, undefined> | undefined;
}

/** `ssl_certificate_cache`. Times are in seconds. */
export interface CertificateCache {
  readonly max: number;
  readonly inactive: number;
  readonly valid: number;
}

/** What `https` makes of a server that names no certificate: variables that the acme module knows. */
export interface AutomaticTls {
  readonly pos: Pos;
  readonly certificate: ComplexValue<ClientTask>;
  readonly key: ComplexValue<ClientTask>;
  readonly ticketZone: ZoneRef<SessionZone, undefined>;
}

/** The names of those variables, as certificates are written. */
export const AUTOMATIC_CERTIFICATE = '$acme_certificate';
export const AUTOMATIC_KEY = '$acme_certificate_key';

/** A certificate's or key's name with variables. */
export interface NameWithVariables {
  /** Compiles the name for a server that has it. Throws a ConfigError. */
  readonly compile?: (ctx: LinkContext<ClientTask>, place: MergeContext) => void;
  readonly eval: (task: ClientTask) => string;
}

/** What a `server {}` says about TLS. Paths are complete. nginx: ngx_http_ssl_srv_conf_t. */
export interface TlsSettings {
  certificates: readonly string[] | undefined;
  /** The certificates as they are written. */
  certificateNames: readonly string[];
  /** Where they are written. */
  certificatePlaces: readonly Pos[];
  certificateKeys: readonly string[] | undefined;
  /** The names that have variables, of servers around this one, too. */
  complexNames: ReadonlyMap<string, NameWithVariables>;
  /** Null when certificates are read again for each handshake. */
  certificateCache: CertificateCache | null;
  passwordFile: string | undefined;
  certificateCompression: boolean;
  earlyData: boolean;
  dhparam: string | undefined;
  ecdhCurve: string;
  /** Bits of {@link TLS}. */
  protocols: number;
  ciphers: string;
  bufferSize: number;
  verify: VerifyMode;
  verifyDepth: number;
  clientCertificate: string | undefined;
  trustedCertificate: string | undefined;
  preferServerCiphers: boolean;
  sessionCache: SessionCache;
  sessionTickets: boolean;
  /** Where the keys of tickets are that all machines of a fleet share; null where this machine has its own. */
  ticketSync: FleetKeyZoneRef | null;
  ticketKeyFiles: readonly string[];
  /** Seconds. */
  sessionTimeout: number;
  crl: string | undefined;
  confCommands: readonly (readonly [string, string])[];
  rejectHandshake: boolean;
  /** undefined: as `https` has it. */
  stapling: boolean | undefined;
  staplingFile: string | undefined;
  /** Address of the responder in place of the certificate's own; empty for none. */
  staplingResponder: string;
  staplingVerify: boolean;
  /** `ssl_ocsp`: whether the status of clients' certificates is asked for. */
  ocsp: 'off' | 'on' | 'leaf';
  /** Address of the responder in place of those that certificates name; empty for none. */
  ocspResponder: string;
  ocspCache: ZoneRef<SessionZone, undefined> | null;
  /** Keys of the tickets of servers without a zone of their own. */
  ticketZone: ZoneRef<SessionZone, undefined> | undefined;
  /** Null where `https` does not apply. */
  automatic: AutomaticTls | null;
}
