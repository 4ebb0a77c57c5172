import { Code, TransportError } from './errors.js';
import { intLength, PacketCursor, putInt } from './varint.js';
import { VERSIONS } from './version.js';

const Id = {
  ORIGINAL_DESTINATION: 0,
  IDLE_TIMEOUT: 1,
  RESET_TOKEN: 2,
  MAX_PAYLOAD: 3,
  MAX_DATA: 4,
  STREAM_DATA_BIDI_LOCAL: 5,
  STREAM_DATA_BIDI_REMOTE: 6,
  STREAM_DATA_UNI: 7,
  STREAMS_BIDI: 8,
  STREAMS_UNI: 9,
  ACK_DELAY_EXPONENT: 10,
  MAX_ACK_DELAY: 11,
  NO_MIGRATION: 12,
  PREFERRED_ADDRESS: 13,
  ID_LIMIT: 14,
  INITIAL_SOURCE: 15,
  RETRY_SOURCE: 16,
  VERSIONS: 17,
} as const;

/** The most streams of a kind that may ever be opened (RFC 9000, 4.6). */
export const MOST_STREAMS = 2 ** 60;
/** After so many milliseconds an acknowledgement leaves at the latest, here, and at a peer that says nothing of it. */
export const MAX_ACK_DELAY = 25;
const LEAST_PAYLOAD = 1200;
const LARGEST_ACK_EXPONENT = 20;
const ACK_DELAY_LIMIT = 2 ** 14;
/** Anything else in one of them would be a number that JavaScript cannot count with. */
const MOST = Number.MAX_SAFE_INTEGER;

/** What a client's transport parameters say (RFC 9000, 18.2), with the defaults of what is absent. */
export interface PeerParameters {
  /** Milliseconds; 0 for none. */
  idleTimeout: number;
  maxPayload: number;
  maxData: number;
  streamDataBidiLocal: number;
  streamDataBidiRemote: number;
  streamDataUni: number;
  streamsBidi: number;
  streamsUni: number;
  ackDelayExponent: number;
  /** Milliseconds. */
  maxAckDelay: number;
  noMigration: boolean;
  idLimit: number;
  initialSource: Buffer | undefined;
  /** The version that the client has chosen, and those that it speaks, as it says; undefined when it does not. */
  versions: { readonly chosen: number; readonly others: readonly number[] } | undefined;
}

const wrong = (what: string): never => {
  throw new TransportError(Code.TRANSPORT_PARAMETER, `invalid transport parameter: ${what}`);
};

/** Reads a client's transport parameters; throws {@link TransportError}. */
export function readParameters(bytes: Buffer): PeerParameters {
  const found: PeerParameters = {
    idleTimeout: 0,
    maxPayload: 65527,
    maxData: 0,
    streamDataBidiLocal: 0,
    streamDataBidiRemote: 0,
    streamDataUni: 0,
    streamsBidi: 0,
    streamsUni: 0,
    ackDelayExponent: 3,
    maxAckDelay: 25,
    noMigration: false,
    idLimit: 2,
    initialSource: undefined,
    versions: undefined,
  };
  const cursor = new PacketCursor();
  cursor.set(bytes, 0, bytes.length);
  let seen = 0;
  while (cursor.left > 0) {
    const id = cursor.int();
    const length = cursor.int();
    const value = cursor.take(length);
    if (cursor.failed) {
      wrong('truncated');
    }
    if (id <= Id.VERSIONS) {
      if ((seen & (1 << id)) !== 0) {
        wrong('duplicate');
      }
      seen |= 1 << id;
      readOne(found, id, value);
    }
  }
  if (found.initialSource === undefined) {
    wrong('no initial_source_connection_id');
  }
  return found;
}

function readOne(found: PeerParameters, id: number, value: Buffer): void {
  switch (id) {
    case Id.ORIGINAL_DESTINATION:
    case Id.RESET_TOKEN:
    case Id.PREFERRED_ADDRESS:
    case Id.RETRY_SOURCE:
      wrong("a server's");
      return;
    case Id.INITIAL_SOURCE:
      found.initialSource = Buffer.from(value);
      return;
    case Id.NO_MIGRATION:
      found.noMigration = value.length === 0 || wrong('disable_active_migration');
      return;
    case Id.VERSIONS:
      found.versions = readVersions(value);
      return;
  }
  const number = readNumber(value);
  switch (id) {
    case Id.IDLE_TIMEOUT:
      found.idleTimeout = number;
      return;
    case Id.MAX_PAYLOAD:
      found.maxPayload = number < LEAST_PAYLOAD ? wrong('max_udp_payload_size') : number;
      return;
    case Id.MAX_DATA:
      found.maxData = number;
      return;
    case Id.STREAM_DATA_BIDI_LOCAL:
      found.streamDataBidiLocal = number;
      return;
    case Id.STREAM_DATA_BIDI_REMOTE:
      found.streamDataBidiRemote = number;
      return;
    case Id.STREAM_DATA_UNI:
      found.streamDataUni = number;
      return;
    case Id.STREAMS_BIDI:
      found.streamsBidi = number > MOST_STREAMS ? wrong('initial_max_streams_bidi') : number;
      return;
    case Id.STREAMS_UNI:
      found.streamsUni = number > MOST_STREAMS ? wrong('initial_max_streams_uni') : number;
      return;
    case Id.ACK_DELAY_EXPONENT:
      found.ackDelayExponent = number > LARGEST_ACK_EXPONENT ? wrong('ack_delay_exponent') : number;
      return;
    case Id.MAX_ACK_DELAY:
      found.maxAckDelay = number >= ACK_DELAY_LIMIT ? wrong('max_ack_delay') : number;
      return;
    case Id.ID_LIMIT:
      found.idLimit = number < 2 ? wrong('active_connection_id_limit') : number;
      return;
  }
}

function readNumber(value: Buffer): number {
  const cursor = new PacketCursor();
  cursor.set(value, 0, value.length);
  const number = cursor.int();
  if (cursor.failed || cursor.left > 0) {
    wrong('no integer');
  }
  return number > MOST_STREAMS ? number : Math.min(number, MOST);
}

// RFC 9368, 3.
function readVersions(value: Buffer): PeerParameters['versions'] {
  if (value.length < 4 || value.length % 4 !== 0) {
    wrong('version_information');
  }
  const numbers: number[] = [];
  for (let at = 0; at < value.length; at += 4) {
    numbers.push(value.readUInt32BE(at));
  }
  const [chosen = 0, ...others] = numbers;
  if (chosen === 0 || others.includes(0)) {
    wrong('version_information');
  }
  return { chosen, others };
}

/** What a server says of itself. */
export interface OwnParameters {
  readonly originalDestination: Uint8Array;
  readonly initialSource: Uint8Array;
  /** Of the client's address was asked with Retry. */
  readonly retrySource: Uint8Array | undefined;
  readonly resetToken: Uint8Array;
  readonly idleTimeout: number;
  readonly maxPayload: number;
  readonly maxData: number;
  readonly maxStreamData: number;
  readonly streamsBidi: number;
  readonly streamsUni: number;
  readonly maxAckDelay: number;
  readonly idLimit: number;
  readonly version: number;
}

/** Writes a server's transport parameters. */
export function writeTransportParameters(own: OwnParameters): Buffer {
  const into = Buffer.alloc(512);
  let at = 0;
  const bytes = (id: number, value: Uint8Array): void => {
    at = putInt(into, at, id);
    at = putInt(into, at, value.length);
    into.set(value, at);
    at += value.length;
  };
  const int = (id: number, value: number): void => {
    at = putInt(into, at, id);
    at = putInt(into, at, intLength(value));
    at = putInt(into, at, value);
  };
  bytes(Id.ORIGINAL_DESTINATION, own.originalDestination);
  bytes(Id.INITIAL_SOURCE, own.initialSource);
  if (own.retrySource !== undefined) {
    bytes(Id.RETRY_SOURCE, own.retrySource);
  }
  bytes(Id.RESET_TOKEN, own.resetToken);
  int(Id.IDLE_TIMEOUT, own.idleTimeout);
  int(Id.MAX_PAYLOAD, own.maxPayload);
  int(Id.MAX_DATA, own.maxData);
  int(Id.STREAM_DATA_BIDI_LOCAL, own.maxStreamData);
  int(Id.STREAM_DATA_BIDI_REMOTE, own.maxStreamData);
  int(Id.STREAM_DATA_UNI, own.maxStreamData);
  int(Id.STREAMS_BIDI, own.streamsBidi);
  int(Id.STREAMS_UNI, own.streamsUni);
  int(Id.MAX_ACK_DELAY, own.maxAckDelay);
  int(Id.ID_LIMIT, own.idLimit);
  const versions = Buffer.alloc(4 + VERSIONS.length * 4);
  versions.writeUInt32BE(own.version, 0);
  for (const [i, { number }] of VERSIONS.entries()) {
    versions.writeUInt32BE(number, 4 + i * 4);
  }
  bytes(Id.VERSIONS, versions);
  return into.subarray(0, at);
}
