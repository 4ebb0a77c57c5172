import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as IoRedisPackage from 'ioredis';
import { nativeText } from '../../shared/text/native-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { ReplyBounds } from './reply-bounds.js';
import type { SharedStoreSettings, StoreServer, StoreTls } from './settings.js';

/** What a command is given. Numbers are written in decimals. */
export type StoreArgument = string | number | Buffer;

/** Takes the outcome of a command. */
export type StoreCallback = (error: Error | null | undefined, reply?: unknown) => void;

/** A connection to a store, made anew for as long as it is not closed. */
export interface StoreConnection {
  /** Sends a command at once. Without a connection it fails at once. */
  send(command: string, args: readonly StoreArgument[], done: StoreCallback): void;
  /** Gives up the connection there is for a new one. */
  reconnect(): void;
  close(): void;
}

/** What a connection tells of itself. */
export interface ConnectionEvents {
  /** Commands can be sent. */
  connected(): void;
  /** There is no connection. Another one is tried by itself. */
  disconnected(error: Error | undefined): void;
}

/** What ioredis is told; how replies of RESP3 are shown is none of our concern. */
type Options = Omit<IoRedisPackage.RedisOptions, 'replyMapping'>;

type Client = IoRedisPackage.Redis | IoRedisPackage.Cluster;

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 500;
const CONNECT_MS = 2000;

let loaded: typeof IoRedisPackage | undefined;

/** The package. Its files may be out of reach of the user that a worker becomes: who may need it loads it before. */
export function redisPackage(): typeof IoRedisPackage {
  loaded ??= createRequire(import.meta.url)('ioredis') as typeof IoRedisPackage;
  return loaded;
}

/** Connects to a store; `purpose` is in the name that the store shows of the connection. */
export function connectStore(settings: SharedStoreSettings, purpose: string, events: ConnectionEvents): StoreConnection {
  const { Command } = redisPackage();
  const client = settings.cluster ? openCluster(settings, purpose) : openSingle(settings, purpose);
  let failure: Error | undefined;
  // ioredis tells why in one event and that in another.
  client.on('error', (error: Error) => {
    failure = error;
  });
  client.on('node error', (error: Error) => {
    failure = error;
  });
  client.on('connect', () => {
    failure = undefined;
  });
  client.on('ready', () => {
    // ioredis goes on in the database 0 where the store does not have the one of the configuration.
    if (failure !== undefined && !settings.cluster) {
      client.disconnect(true);
      return;
    }
    failure = undefined;
    events.connected();
  });
  client.on('close', () => events.disconnected(failure));
  if (client instanceof redisPackage().Cluster) {
    client.on('+node', guard);
  } else {
    guard(client);
  }
  let closed = false;
  // The package gives up when it is told of another master while it looks for one.
  client.on('end', () => {
    if (!closed) {
      setTimer(() => void (closed || client.connect().catch(() => {})), RETRY_MS).unref();
    }
  });
  return {
    send: (command, args, done) => void client.sendCommand(new Command(command, args as never, { replyEncoding: 'utf8' }, done as never)),
    reconnect: () => client.disconnect(true),
    close() {
      closed = true;
      client.disconnect();
    },
  };
}

/** What ioredis has of a connection. */
interface OneConnection {
  readonly stream: Socket;
  /** Commands that were sent and not answered. */
  readonly commandQueue: { readonly length: number };
}

/** Breaks a connection off by which something comes that nobody asked for, or that takes more memory than any answer. */
function guard(client: IoRedisPackage.Redis): void {
  // A connection that ioredis gives up for an answer has no commands any more, and answers may still come: why it was given up is told.
  let givenUp = false;
  client.on('error', () => {
    givenUp = true;
  });
  client.on('connect', () => {
    const connection = client as unknown as OneConnection;
    const { stream } = connection;
    const bounds = new ReplyBounds();
    const emit = stream.emit.bind(stream) as (name: string, ...args: unknown[]) => boolean;
    givenUp = false;
    // Listeners cannot keep others from hearing.
    stream.emit = (name: string, ...args: unknown[]): boolean => {
      const came = name === 'data' ? bounds.take(args[0] as Buffer) : 0;
      if (typeof came === 'number' && came <= connection.commandQueue.length) {
        return emit(name, ...args);
      }
      if (!stream.destroyed) {
        const why = typeof came === 'string' ? `it answers what cannot be read: ${came}` : 'it answers what was not asked';
        stream.destroy(givenUp ? undefined : new Error(why));
      }
      return true;
    };
  });
}

function openSingle(settings: SharedStoreSettings, purpose: string): Client {
  const { Redis } = redisPackage();
  const { servers, sentinel, database } = settings;
  const common = { ...optionsOf(settings, purpose), db: database, retryStrategy: () => RETRY_MS, enableOfflineQueue: false };
  if (sentinel === undefined) {
    return new Redis({ ...common, ...addressOf(servers[0]!) });
  }
  return new Redis({
    ...common,
    sentinels: servers.map(addressOf) as { host: string; port: number }[],
    name: sentinel,
    ...(settings.sentinelPassword === undefined ? {} : { sentinelPassword: settings.sentinelPassword }),
    ...(settings.tls === undefined ? {} : { sentinelTLS: tlsOptions(settings.tls), enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: () => RETRY_MS,
  });
}

function openCluster(settings: SharedStoreSettings, purpose: string): Client {
  const { Cluster } = redisPackage();
  return new Cluster(settings.servers.map(addressOf) as { host: string; port: number }[], {
    redisOptions: optionsOf(settings, purpose),
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RETRY_MS,
    slotsRefreshTimeout: CONNECT_MS,
    slotsRefreshInterval: 5000,
    // Certificates are for names.
    ...(settings.tls === undefined
      ? {}
      : { dnsLookup: (address: string, callback: (error: null, found: string) => void) => callback(null, address) }),
  });
}

function optionsOf({ user, password, tls, node }: SharedStoreSettings, purpose: string): Options {
  return {
    connectTimeout: CONNECT_MS,
    protocol: 2,
    enableReadyCheck: false,
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectionName: `sluice-${node}-${purpose}`,
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password: nativeText(password) }),
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  };
}

const addressOf = (server: StoreServer): { host: string; port: number } | { path: string } =>
  'path' in server ? { path: nativeText(server.path) } : { host: server.host, port: server.port };

function tlsOptions({ authorities, certificate, key, name, verify }: StoreTls): import('node:tls').ConnectionOptions {
  return {
    rejectUnauthorized: verify,
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    ...(name === undefined ? {} : { servername: name }),
  };
}
