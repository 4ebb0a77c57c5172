import type { ServerConnection } from './connection.js';
import type { PeerId } from './connection-ids.js';
import { BASE } from './mtu.js';
import { Path } from './path.js';
import { APPLICATION } from './space.js';

/** At other paths than the one in use. */
const MOST_PATHS = 4;
/** A packet's header, number and tag take no more, and a frame of paths that. */
const [AROUND, FRAME] = [60, 9];
const NONE: readonly Path[] = [];
const [CHALLENGE, RESPONSE] = [Buffer.from([0x1a]), Buffer.from([0x1b])];

/** The paths of a connection: the one in use, the one before, and those that the client tries (RFC 9000, 9). */
export class Paths {
  readonly #connection: ServerConnection;
  /** The one in use. */
  current: Path;
  /** The path before the client has moved, until the new one is known to work. */
  #before: Path | undefined = undefined;
  #others: readonly Path[] = NONE;

  constructor(connection: ServerConnection, first: Path) {
    this.#connection = connection;
    this.current = first;
  }

  /** The path of a datagram: one that is known, or a new one. Undefined where there are too many. */
  find(peer: Buffer, local: Buffer | undefined): Path | undefined {
    if (this.current.is(peer, local)) {
      return this.current;
    }
    if (this.#before?.is(peer, local)) {
      return this.#before;
    }
    let found = this.#others.find((each) => each.is(peer, local));
    if (found === undefined) {
      // The handshake is over before a client moves.
      if (!this.#connection.confirmed || this.#others.length >= MOST_PATHS) {
        return undefined;
      }
      // It is remembered once it has brought a packet that is authentic.
      found = new Path(peer, local);
    }
    return found;
  }

  /**
   * An authentic packet came on another path than the one in use, to the ID `own`. `moves`: it says that the client is there from now on.
   */
  used(path: Path, own: string, moves: boolean, now: number): void {
    path.ownId = own;
    if (path !== this.#before && !this.#others.includes(path)) {
      this.#others = [...this.#others, path];
      if (own === this.current.ownId) {
        // Something on the way has changed the client's address, of which the client knows nothing.
        path.peerId = this.#connection.peerIds.share();
      }
    }
    // Where there is no ID for a path, nothing can be sent there.
    if (moves && this.#idOf(path) !== undefined) {
      this.#moved(path, now);
    } else if (path.challenge === undefined && !path.validated) {
      path.ask(now, this.#connection.probeTimeout);
    }
  }

  /** The ID that the client is sent to on a path that is not in use; undefined while there is none for it. */
  #idOf(path: Path): PeerId | undefined {
    if (path.peerId === undefined || path.peerId.gone) {
      const { peerIds } = this.#connection;
      path.peerId = peerIds.take();
      const [oldest] = this.#others;
      if (path.peerId === undefined && oldest !== undefined && oldest !== path) {
        // The client gives another one for it.
        this.#leave(oldest);
        this.#others = this.#others.slice(1);
      }
    }
    return path.peerId;
  }

  /** A path is sent to no more, unless the client comes from there again. */
  #leave(path: Path | undefined): void {
    const id = path?.peerId;
    if (id !== undefined) {
      path!.peerId = undefined;
      this.#connection.peerIds.leave(id);
    }
  }

  /** Takes a path in use that has an ID. */
  #use(path: Path): void {
    this.current.peerId = this.#connection.peerIds.use(path.peerId!);
    path.peerId = undefined;
    this.current = path;
  }

  /** The client uses another path from now on. */
  #moved(path: Path, now: number): void {
    const c = this.#connection;
    const before = this.current;
    this.#others = this.#others.filter((each) => each !== path);
    this.#use(path);
    if (before.validated) {
      if (this.#before !== path) {
        this.#leave(this.#before);
      }
      this.#before = before;
      // Who passes on a client's packets, from elsewhere, is found out: the client answers from where it is (RFC 9000, 9.3.3).
      if (!path.validated && before.challenge === undefined) {
        before.ask(now, c.probeTimeout);
      }
    } else {
      this.#leave(before);
      this.#before = this.#before === path ? undefined : this.#before;
    }
    if (path.validated && before.challenge === undefined) {
      // Nobody returns to the path before.
      this.#leave(before);
    }
    if (!path.sharesAddress(before)) {
      c.recovery.newPath();
    }
    c.mtu.reset();
    c.recovery.cubic.resize(BASE);
    if (path.validated) {
      c.beginMtu();
      c.vouch();
    } else if (path.challenge === undefined) {
      path.ask(now, c.probeTimeout);
    }
  }

  /** PATH_RESPONSE came, on whichever path. */
  answered(data: Buffer): void {
    for (const path of [this.current, this.#before, ...this.#others]) {
      if (path?.answers(data)) {
        if (path === this.current) {
          this.#leave(this.#before);
          this.#before = undefined;
          this.#connection.beginMtu();
          this.#connection.vouch();
        }
        return;
      }
    }
  }

  /** When a path is asked again, or given up. */
  get due(): number {
    let due = Math.min(this.current.challengeAt, this.#before?.challengeAt ?? Number.POSITIVE_INFINITY);
    for (const { challengeAt } of this.#others) {
      due = Math.min(due, challengeAt);
    }
    return due;
  }

  expired(now: number): void {
    // One that fails is gone, and another one may take its place.
    for (const path of [this.#before, this.current, ...this.#others]) {
      if (path !== undefined && now >= path.challengeAt && !path.askAgain(now, this.#connection.probeTimeout)) {
        this.#failed(path, now);
      }
    }
  }

  /** Nobody answers on a path. */
  #failed(path: Path, now: number): void {
    const c = this.#connection;
    if (path === this.#before) {
      // It is still the last that worked, to which the server returns where the new one does not.
      return;
    }
    if (path !== this.current) {
      this.#leave(path);
      this.#others = this.#others.filter((each) => each !== path);
    } else if (this.#before !== undefined && this.#idOf(this.#before) !== undefined) {
      this.#use(this.#before);
      this.#leave(path);
      this.#before = undefined;
      c.mtu.reset();
      c.beginMtu();
      // One that was lost meanwhile was not repeated.
      c.vouch();
      c.touch();
    } else {
      c.idleAt = now;
    }
  }

  /** Answers and asks on all paths; each in a datagram of full length, unless that is too much for its path. */
  send(now: number): void {
    this.#sendOn(this.current, now);
    if (this.#before !== undefined) {
      this.#sendOn(this.#before, now);
    }
    for (const path of this.#others) {
      this.#sendOn(path, now);
    }
  }

  #sendOn(path: Path, now: number): void {
    if (!path.challenges && path.responses.length === 0) {
      return;
    }
    const c = this.#connection;
    const space = c.spaces[APPLICATION]!;
    const destination = path === this.current ? c.peerIds.current : this.#idOf(path)?.id;
    if (space.writeKeys === undefined || destination === undefined) {
      return;
    }
    // Who acknowledges nothing has to wait for answers as for everything else.
    const answers = c.recovery.cubic.room > 0 ? path.takeResponses() : [];
    const frames = answers.map((data) => Buffer.concat([RESPONSE, data]));
    if (path.challenges && path.challenge !== undefined) {
      path.challenges = false;
      frames.push(Buffer.concat([CHALLENGE, path.challenge]));
    }
    if (frames.length === 0) {
      return;
    }
    const most = Math.min(BASE, path.allowance);
    if (most < AROUND + frames.length * FRAME) {
      return;
    }
    c.sender.marks = false;
    const length = c.host.writer.pathPacket(c, space, destination, frames, most, now);
    c.sender.send(path, 0, length, length);
  }
}
