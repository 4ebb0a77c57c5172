// Packets that are answered without a connection: versions, Retry, and that there is no such connection.
import { randomFillSync, randomInt } from 'node:crypto';
import { retryTag, Type, VERSIONS, type Version } from './version.js';

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
export function retryPacket(version: Version, original: Uint8Array, source: Uint8Array, id: Uint8Array, token: Uint8Array): Buffer {
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
