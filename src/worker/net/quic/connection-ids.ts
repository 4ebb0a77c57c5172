import { latin1 } from '../../bytes/latin1.js';
import { Control, type ControlQueue } from './control-queue.js';
import { Code, TransportError } from './errors.js';

/** More than that are not given out, whatever the peer allows. */
const MOST_OWN = 8;
/** How many of the peer's IDs may wait to be given back: more means that it does not acknowledge that. */
const MOST_RETIRING = 32;

/** Gives out IDs by which datagrams find their connection. */
export interface IdGiver {
  newId(): Buffer;
  dropId(id: Buffer): void;
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
  #ids: Buffer[];
  #numbers: number[] = [0];
  #next = 1;
  #most = 1;

  constructor(giver: IdGiver, controls: ControlQueue) {
    this.#giver = giver;
    this.#controls = controls;
    this.#ids = [giver.newId()];
  }

  /** The first, which the handshake uses. */
  get first(): Buffer {
    return this.#get(0)!;
  }

  /** The ID of a number, which is about to be told to the peer. */
  tell(sequence: number): Buffer | undefined {
    this.#told = Math.max(this.#told, sequence);
    return this.#get(sequence);
  }

  #get(sequence: number): Buffer | undefined {
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
      // New lists, which have room for no more than that.
      this.#ids = [...this.#ids, this.#giver.newId()];
      this.#numbers = [...this.#numbers, this.#next++];
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
    if (latin1(id, 0, id.length) === used) {
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

interface PeerId {
  readonly sequence: number;
  readonly id: Buffer;
  /** Undefined for the ID of the handshake. */
  readonly token: Buffer | undefined;
}

/** The IDs that are sent to. */
export class PeerIds {
  readonly #controls: ControlQueue;
  readonly #watch: ResetWatch;
  readonly #limit: number;
  #known: PeerId[];
  #retired = 0;
  /** Numbers below were given back, or will be. */
  #used = 0;
  #retiring = 0;

  /** `limit`: what we have said that we keep. */
  constructor(first: Buffer, limit: number, controls: ControlQueue, watch: ResetWatch) {
    this.#watch = watch;
    this.#known = [{ sequence: 0, id: first, token: undefined }];
    this.#limit = limit;
    this.#controls = controls;
  }

  /** The one in use. */
  get current(): Buffer {
    return this.#known[0]!.id;
  }

  /** NEW_CONNECTION_ID came. */
  add(sequence: number, retire: number, id: Buffer, token: Buffer): void {
    const [first] = this.#known;
    if (first!.id.length === 0) {
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
    } else if (sequence >= this.#used) {
      // In the order of their numbers, whatever the order in which they came: so those in front of the first are none of them.
      const after = this.#known.findIndex((each) => each.sequence > sequence);
      this.#known.splice(after < 0 ? this.#known.length : after, 0, { sequence, id, token });
    }
    if (retire > this.#retired) {
      this.#retired = retire;
      const gone = this.#known.filter((each) => each.sequence < retire);
      this.#known = this.#known.filter((each) => each.sequence >= retire);
      for (const each of gone) {
        this.#giveBack(each.sequence);
      }
    }
    if (this.#known.length === 0 || this.#known.length > this.#limit) {
      throw new TransportError(Code.CONNECTION_ID_LIMIT, 'too many IDs');
    }
    if (this.#known[0] !== first) {
      this.#watch.tokenInUse(this.#known[0]!.token);
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

  /** Takes another one in use, so that nobody sees that two paths are of one client; stays with the only one. */
  change(): void {
    if (this.#known.length > 1) {
      const before = this.#known.shift()!;
      this.#used = Math.max(this.#used, before.sequence + 1);
      this.#giveBack(before.sequence);
      this.#watch.tokenInUse(this.#known[0]!.token);
    }
  }
}
