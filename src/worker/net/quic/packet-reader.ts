import { SAMPLE, TAG } from '../openssl/packet-keys.js';
import type { ServerConnection } from './connection.js';
import { Code, TransportError } from './errors.js';
import { ELICITING, NOT_PROBING } from './frame-reader.js';
import { wholeNumber } from './packet-number.js';
import type { Path } from './path.js';
import { APPLICATION, HANDSHAKE, INITIAL, type Space } from './space.js';
import { MAX_ACK_DELAY } from './transport-parameters.js';

/** A packet of so many bytes that asks is acknowledged with others, if they come soon. */
const ACK_EVERY = 2;
/** The marks of ECN, as the network layer has them. */
const [ECT1, ECT0, CE] = [1, 2, 3];

/** Whether a connection can read packets of this kind now. */
export function canRead(c: ServerConnection, index: number, early: boolean): boolean {
  return early ? c.handshake.earlyKeys !== undefined && !c.confirmed : c.spaces[index]!.readKeys !== undefined;
}

/**
 * Takes off a packet's protection (RFC 9001, 5), and reads it: `from..end` of the input, with its number at `numberAt`. Returns false for
 * one that nobody understands. Throws {@link TransportError}.
 */
export function readPacket(
  c: ServerConnection,
  index: number,
  early: boolean,
  path: Path,
  from: number,
  numberAt: number,
  end: number,
  used: string,
  ecn: number,
  now: number,
): boolean {
  const space = c.spaces[index]!;
  const region = c.host.input;
  const { bytes } = region;
  let keys = early ? c.handshake.earlyKeys : space.readKeys;
  if (keys === undefined || (index === APPLICATION && !early && !c.confirmed) || end - numberAt < 4 + SAMPLE) {
    return true;
  }
  const mask = keys.mask(region, numberAt + 4);
  const short = index === APPLICATION && !early;
  const first = bytes[from]! ^ (mask[0]! & (short ? 0x1f : 0x0f));
  bytes[from] = first;
  const numberLength = (first & 3) + 1;
  let truncated = 0;
  for (let i = 0; i < numberLength; i++) {
    bytes[numberAt + i]! ^= mask[1 + i]!;
    truncated = truncated * 256 + bytes[numberAt + i]!;
  }
  const number = wholeNumber(space.largest, truncated, numberLength);
  const textAt = numberAt + numberLength;
  const textEnd = end - TAG;
  if (textEnd < textAt || number > Number.MAX_SAFE_INTEGER) {
    return true;
  }
  const otherPhase = short && ((first >> 2) & 1) !== c.keys.present;
  if (otherPhase) {
    keys = c.keys.others(space, number);
  }
  if (!keys.open(number, region, from, textAt, textEnd)) {
    if (keys.forged >= keys.suite.forgedMost) {
      throw new TransportError(Code.AEAD_LIMIT, 'too many packets that are not authentic');
    }
    return false;
  }
  if (space.has(number)) {
    return true;
  }
  if ((first & (short ? 0x18 : 0x0c)) !== 0) {
    throw new TransportError(Code.PROTOCOL, 'reserved bits are set');
  }
  if (otherPhase && c.keys.areNext(keys)) {
    c.keys.peerUpdated(space, number, now, 3 * c.probeTimeout);
  }
  if (index === HANDSHAKE) {
    path.validated = true;
    c.discard(c.spaces[INITIAL]!);
  }
  opened(c, space, early, path, textAt, textEnd, number, used, ecn, now);
  return true;
}

/** A packet is authentic: notes that it came, and does what its frames say. */
function opened(
  c: ServerConnection,
  space: Space,
  early: boolean,
  path: Path,
  textAt: number,
  textEnd: number,
  number: number,
  used: string,
  ecn: number,
  now: number,
): void {
  c.heard = true;
  const inOrder = number === space.largest + 1;
  const latest = number > space.largest;
  space.add(number, now);
  if (ecn !== 0) {
    space.marks ??= [0, 0, 0];
    space.marks[ecn === ECT0 ? 0 : ecn === ECT1 ? 1 : 2]!++;
  }
  c.stayAwake(now);
  if (early) {
    c.beginEarly();
  }
  const { host } = c;
  const result = host.reader.read(c, host.input.bytes, textAt, textEnd, space, early, path, used, now);
  if (c.ending) {
    return;
  }
  if ((result & ELICITING) !== 0) {
    space.unacked++;
    if (space.index !== APPLICATION || space.unacked >= ACK_EVERY || !inOrder || ecn === CE) {
      space.ackNow = true;
    } else {
      space.ackAt = Math.min(space.ackAt, now + MAX_ACK_DELAY);
    }
  }
  if (path === c.path && path.responses.length > 0) {
    // Who passes on a client's packets sees an acknowledgement, too, which takes it nowhere (RFC 9000, 9.3.3).
    space.ackNow = true;
  }
  if (path === c.path) {
    path.ownId = used;
  } else {
    c.paths.used(path, used, (result & NOT_PROBING) !== 0 && latest, now);
  }
  c.touch();
}
