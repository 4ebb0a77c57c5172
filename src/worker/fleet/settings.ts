/** One server of a store: a TCP address, or a socket in the file system. */
export type StoreServer = { readonly host: string; readonly port: number } | { readonly path: string };

/** How a store is reached over TLS. */
export interface StoreTls {
  /** Certificates (PEM) of the authorities that the store's is checked against; undefined: the system's. */
  readonly authorities: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** The name that is asked for and checked; undefined: the server's host. */
  readonly name: string | undefined;
  readonly verify: boolean;
}

/** A `shared_store` block. */
export interface SharedStoreSettings {
  readonly name: string;
  readonly servers: readonly StoreServer[];
  /** The name of the master that the servers, which are Sentinels, watch over; undefined where they are no Sentinels. */
  readonly sentinel: string | undefined;
  readonly sentinelPassword: string | undefined;
  readonly cluster: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly tls: StoreTls | undefined;
  /** What secrets are encrypted with in the store, the first key for new ones; none where the configuration names none. */
  readonly keys: readonly Buffer[];
  /** How long, in milliseconds, a request waits for the store. */
  readonly timeout: number;
  /** Without the store each machine decides for itself, or requests that need it are refused. */
  readonly failure: 'local' | 'refuse';
  /** Which part of a limit each machine has to itself without the store: one of so many. */
  readonly divisor: number;
  /** The machine's name among those of the fleet. */
  readonly node: string;
}

/** What a zone says for {@link SharedStoreSettings}: it is the fleet's, and what it keeps in the store is secret. */
export interface SealedZone {
  readonly sync: boolean;
  readonly sealed: true;
  /** What has the parameter, for messages. */
  readonly said: string;
}
