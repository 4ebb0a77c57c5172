import { Control, type ControlQueue } from './control-queue.js';
import { Code, TransportError } from './errors.js';
import { Ranges } from './ranges.js';

/** More than that are not given out, whatever the peer allows. */
const MOST_OWN = 8;
/** How many of the peer's IDs may wait to be given back: more means that it does not acknowledge that. */
const MOST_RETIRING = 32;

/** Gives out IDs by which datagrams find their connection: texts, a character for a byte. */
export interface IdGiver {
  newId(): string;
  dropId(id: string): void;
}

/** Hears by which token a peer that has lost the connection says so: that of the ID that it is sent to (RFC 9000, 10.3.1). */
export interface ResetWatch {
  /** `token`: undefined where the peer has told none. */
  tokenInUse(token: Buffer | undefined): void;
}

/** The IDs that the peer may send to (RFC 9000, 5.1). */
export class OwnIds {
  readonly #giver: IdGiver;
  readonly #controls: ControlQueue;
  /** The largest number that was told to the peer. */
  #told = 0;
  /** IDs that were not given back, and their numbers. */
  #ids: string[];
  #numbers: number[] = [0];
  #next = 1;
  #most = 1;

  constructor(giver: IdGiver, controls: ControlQueue) {
    this.#giver = giver;
    this.#controls = controls;
    this.#ids = [giver.newId()];
  }

  /** The first, which the handshake uses. */
  get first(): string {
    return this.#get(0)!;
  }

  /** The ID of a number, which is about to be told to the peer. */
  tell(sequence: number): string | undefined {
    this.#told = Math.max(this.#told, sequence);
    return this.#get(sequence);
  }

  #get(sequence: number): string | undefined {
    return this.#ids[this.#numbers.indexOf(sequence)];
  }

  /** The peer takes so many. */
  allow(most: number): void {
    this.#most = Math.min(most, MOST_OWN);
    this.#fill();
  }

  #fill(): void {
    while (this.#ids.length < this.#most) {
      this.#controls.add(Control.NEW_ID, this.#next);
      // New lists, which have room for no more than that: one that is pushed to gets some for 16 more.
      this.#ids = this.#ids.concat(this.#giver.newId());
      this.#numbers = this.#numbers.concat(this.#next++);
    }
  }

  /** RETIRE_CONNECTION_ID came, in a packet to the ID `used`, a character for a byte. */
  retire(sequence: number, used: string): void {
    if (sequence > this.#told) {
      // One that waits to be told, too: whoever guesses numbers would have IDs made without an end.
      throw new TransportError(Code.PROTOCOL, 'an ID is given back that was not given out');
    }
    const id = this.#get(sequence);
    if (id === undefined) {
      return;
    }
    if (id === used) {
      throw new TransportError(Code.PROTOCOL, 'an ID is given back by a packet to it');
    }
    this.#ids = this.#ids.filter((each) => each !== id);
    this.#numbers = this.#numbers.filter((each) => each !== sequence);
    this.#giver.dropId(id);
    this.#fill();
  }

  dropAll(): void {
    for (const id of this.#ids) {
      this.#giver.dropId(id);
    }
    this.#ids = [];
    this.#numbers = [];
  }
}

/** An ID that the peer is sent to. */
export interface PeerId {
  readonly sequence: number;
  readonly id: Buffer;
  /** Undefined for the ID of the handshake. */
  readonly token: Buffer | undefined;
  /** How many paths it is used on: more than one where the peer has come from elsewhere without wanting to. */
  paths: number;
  /** The peer has taken it back. */
  gone: boolean;
}

const peerId = (sequence: number, id: Buffer, token: Buffer | undefined, paths: number): PeerId => ({
  sequence,
  id,
  token,
  paths,
  gone: false,
});

/** The IDs that are sent to: each path has one of its own, so that nobody sees that two paths are of one client (RFC 9000, 9.5). */
export class PeerIds {
  readonly #controls: ControlQueue;
  readonly #watch: ResetWatch;
  readonly #limit: number;
  /** All that may be used, in the order of their numbers. */
  #known: PeerId[];
  /** The ID of the path in use, and its bytes. */
  #inUse: PeerId;
  current: Buffer;
  #retired = 0;
  /** Numbers that were given back before the peer asked for that; undefined as long as there are none. */
  #left: Ranges | undefined = undefined;
  #retiring = 0;

  /** `limit`: what we have said that we keep. */
  constructor(first: Buffer, limit: number, controls: ControlQueue, watch: ResetWatch) {
    this.#watch = watch;
    this.#inUse = peerId(0, first, undefined, 1);
    this.current = first;
    this.#known = [this.#inUse];
    this.#limit = limit;
    this.#controls = controls;
  }

  /** NEW_CONNECTION_ID came. */
  add(sequence: number, retire: number, id: Buffer, token: Buffer): void {
    if (this.current.length === 0) {
      throw new TransportError(Code.PROTOCOL, 'an ID from who uses none');
    }
    const known = this.#known.find((each) => each.sequence === sequence);
    if (known !== undefined) {
      if (!known.id.equals(id) || (known.token !== undefined && !known.token.equals(token))) {
        throw new TransportError(Code.PROTOCOL, 'an ID came twice and differs');
      }
    } else if (this.#known.some((each) => each.id.equals(id))) {
      throw new TransportError(Code.PROTOCOL, 'an ID came twice with different numbers');
    } else if (sequence < this.#retired) {
      this.#giveBack(sequence);
    } else if (this.#left === undefined || !this.#left.has(sequence)) {
      const after = this.#known.findIndex((each) => each.sequence > sequence);
      this.#known.splice(after < 0 ? this.#known.length : after, 0, peerId(sequence, id, token, 0));
    }
    if (retire > this.#retired) {
      this.#retire(retire);
    }
    const next = this.#inUse.gone ? this.take() : this.#inUse;
    if (next === undefined || this.#known.length > this.#limit) {
      throw new TransportError(Code.CONNECTION_ID_LIMIT, next === undefined ? 'no ID is left' : 'too many IDs');
    }
    this.use(next);
  }

  /** The peer takes back all numbers below that. */
  #retire(below: number): void {
    this.#retired = below;
    this.#left?.removeBelow(below);
    const gone = this.#known.filter((each) => each.sequence < below);
    this.#known = this.#known.filter((each) => each.sequence >= below);
    for (const each of gone) {
      each.gone = true;
      this.#giveBack(each.sequence);
    }
  }

  #giveBack(sequence: number): void {
    if (++this.#retiring > MOST_RETIRING) {
      throw new TransportError(Code.CONNECTION_ID_LIMIT, 'too many IDs are given back');
    }
    this.#controls.add(Control.RETIRE_ID, sequence);
  }

  /** The peer knows of an ID that was given back. */
  gaveBack(): void {
    this.#retiring--;
  }

  /** An ID for another path; undefined while there is none that no path had. Who uses none has none of paths either. */
  take(): PeerId | undefined {
    const found = this.current.length === 0 ? this.#inUse : this.#known.find(({ paths }) => paths === 0);
    if (found !== undefined) {
      found.paths++;
    }
    return found;
  }

  /** The ID of the path in use, for another path, too: the peer is sent to where its datagrams come from, whether or not it has moved. */
  share(): PeerId {
    this.#inUse.paths++;
    return this.#inUse;
  }

  /** Another path is in use, which has this ID. Returns the ID of the path before. */
  use(id: PeerId): PeerId {
    const before = this.#inUse;
    this.#inUse = id;
    this.current = id.id;
    if (id !== before) {
      this.#watch.tokenInUse(id.token);
    }
    return before;
  }

  /** A path is not used any more. What one path had no other one gets. */
  leave(id: PeerId): void {
    if (--id.paths > 0 || id.gone || id.id.length === 0) {
      return;
    }
    this.#known = this.#known.filter((each) => each !== id);
    this.#left ??= new Ranges();
    this.#left.add(id.sequence, id.sequence + 1);
    if (this.#left.count > MOST_RETIRING) {
      // The lowest may be forgotten: what comes again of them is given back again.
      this.#retired = Math.max(this.#retired, this.#left.list[1]!);
      this.#left.removeBelow(this.#retired);
    }
    id.gone = true;
    this.#giveBack(id.sequence);
  }
}
