// Packets that are answered without a connection: versions, Retry, and that there is no such connection.
import { randomFillSync, randomInt } from 'node:crypto';
import type { Region } from '../../../shared/net/uring/memory.js';
import { closeFrame } from './close-frame.js';
import { putInt } from './varint.js';
import { initialKeys, type QuicVersion, retryTag, Type, VERSIONS } from './version.js';

/** The version of a packet that names versions. */
const NEGOTIATION = 0;
/** One that nobody speaks: clients see that such are to be ignored. */
const GREASE = 0x1a2a3a4a;
/** A reset looks like a packet of that length, at least, and ends with a token. */
const SHORTEST_RESET = 21;
const RANDOM_RESET = 20;
const TOKEN = 16;

function idPart(id: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([id.length]), id]);
}

/** Names the versions that are spoken. `source`: the client's, to which this goes; `destination`: what it had sent to. */
export function versionNegotiation(source: Uint8Array, destination: Uint8Array): Buffer {
  const versions = Buffer.alloc((VERSIONS.length + 1) * 4);
  for (const [i, { number }] of VERSIONS.entries()) {
    versions.writeUInt32BE(number, i * 4);
  }
  versions.writeUInt32BE(GREASE, VERSIONS.length * 4);
  const head = Buffer.alloc(5);
  head[0] = 0xc0 | randomInt(64);
  head.writeUInt32BE(NEGOTIATION, 1);
  return Buffer.concat([head, idPart(source), idPart(destination), versions]);
}

/** Asks a client to come again with a token. `original`: what the client had sent to; `id`: what it sends to from now on. */
export function retryPacket(version: QuicVersion, original: Uint8Array, source: Uint8Array, id: Uint8Array, token: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0xc0 | (version.bits[Type.RETRY]! << 4) | randomInt(16);
  head.writeUInt32BE(version.number, 1);
  const packet = Buffer.concat([head, idPart(source), idPart(id), token]);
  return Buffer.concat([packet, retryTag(version, Buffer.concat([idPart(original), packet]))]);
}

/** Says that a connection is no more, by its token; shorter than the packet of `size` bytes that it answers. */
export function statelessReset(token: Uint8Array, size: number): Buffer {
  const length = Math.max(SHORTEST_RESET, Math.min(size - 1, SHORTEST_RESET + RANDOM_RESET + randomInt(RANDOM_RESET)));
  const packet = randomFillSync(Buffer.alloc(length));
  packet[0] = 0x40 | (packet[0]! & 0x3f);
  packet.set(token, length - TOKEN);
  return packet;
}

/**
 * Refuses a connection with its first packet's keys, without one being made, by a packet at the beginning of `output`; returns its length.
 * `destination`, `source`: the client's.
 */
export function refusal(version: QuicVersion, destination: Buffer, source: Buffer, code: number, reason: string, output: Region): number {
  const frame = closeFrame(false, true, code, reason, 0);
  const { bytes } = output;
  bytes[0] = 0xc0 | (version.bits[Type.INITIAL]! << 4);
  let at = bytes.writeUInt32BE(version.number, 1);
  for (const id of [source, destination]) {
    bytes[at++] = id.length;
    at += id.copy(bytes, at);
  }
  bytes[at++] = 0;
  at = putInt(bytes, at, 1 + frame.length + 16);
  const numberAt = at;
  bytes[at++] = 0;
  const end = at + frame.copy(bytes, at);
  const keys = initialKeys(version, destination).server(true);
  keys.seal(0, output, 0, at, end);
  const mask = keys.mask(output, numberAt + 4);
  bytes[0]! ^= mask[0]! & 0x0f;
  bytes[numberAt]! ^= mask[1]!;
  keys.free();
  return end + 16;
}
