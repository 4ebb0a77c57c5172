import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** What becomes of datagrams, in either direction: each number is a chance. */
export interface UdpHarm {
  lost?: number;
  twice?: number;
  late?: number;
  broken?: number;
  /** Milliseconds that each takes. */
  delay?: number;
}

/** Passes datagrams between clients and a server of UDP, and harms them as it is told, by a sequence that is the same each time. */
export class UdpProxy {
  readonly #front: Socket;
  readonly #ways = new Map<string, Socket>();
  /** Ports of the clients whose next datagram takes a new way. */
  readonly #moving = new Set<string>();
  readonly #target: number;
  readonly #closed = new WeakSet<Socket>();
  readonly harm: UdpHarm;
  #seed = 1;
  #waiting: { readonly count: number; readonly of: 'passed' | 'dropped'; readonly resolve: () => void }[] = [];
  passed = 0;
  dropped = 0;
  /** All datagrams vanish while it is true. */
  blackhole = false;

  private constructor(front: Socket, target: number, harm: UdpHarm) {
    this.#front = front;
    this.#target = target;
    this.harm = harm;
    front.on('message', (bytes, from) => this.#way(from.port).then((way) => this.#pass(bytes, (one) => this.#send(way, one, target))));
  }

  static async open(target: number, harm: UdpHarm = {}): Promise<UdpProxy> {
    const front = createSocket('udp4');
    front.bind(0, '127.0.0.1');
    await once(front, 'listening');
    return new UdpProxy(front, target, harm);
  }

  /** Waits until so many datagrams have passed, or were dropped. */
  until(count: number, of: 'passed' | 'dropped' = 'passed'): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ count, of, resolve });
      this.#tell();
    });
  }

  #tell(): void {
    for (const each of this.#waiting) {
      if (this[each.of] >= each.count) {
        each.resolve();
      }
    }
    this.#waiting = this.#waiting.filter(({ count, of }) => this[of] < count);
  }

  get port(): number {
    return this.#front.address().port;
  }

  #chance(): number {
    // A small generator, whose numbers are the same in each run.
    this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) >>> 0;
    return ((this.#seed >>> 8) % 10000) / 10000;
  }

  async #way(port: number): Promise<Socket> {
    const known = this.#ways.get(`${port}`);
    if (known !== undefined && !this.#moving.delete(`${port}`)) {
      return known;
    }
    if (known !== undefined) {
      this.#end(known);
    }
    const way = createSocket('udp4');
    this.#ways.set(`${port}`, way);
    way.bind(0, '127.0.0.1');
    way.on('message', (bytes) => this.#pass(bytes, (one) => this.#send(this.#front, one, port)));
    await once(way, 'listening');
    return way;
  }

  #send(socket: Socket, bytes: Buffer, port: number): void {
    if (!this.#closed.has(socket)) {
      socket.send(bytes, port, '127.0.0.1');
    }
  }

  #end(socket: Socket): void {
    this.#closed.add(socket);
    socket.close();
  }

  #pass(bytes: Buffer, send: (bytes: Buffer) => void): void {
    const { lost = 0, twice = 0, late = 0, broken = 0, delay = 0 } = this.harm;
    if (this.blackhole || this.#chance() < lost) {
      this.dropped++;
      this.#tell();
      return;
    }
    this.passed++;
    this.#tell();
    let one = bytes;
    if (this.#chance() < broken) {
      one = Buffer.from(bytes);
      one[Math.floor(this.#chance() * one.length)]! ^= 1 << Math.floor(this.#chance() * 8);
    }
    if (this.#chance() < twice) {
      send(one);
    }
    if (delay > 0 || this.#chance() < late) {
      // Behind what comes next.
      setTimeout(() => send(one), delay || 3);
    } else {
      send(one);
    }
  }

  /**
   * The server sees other ports of the clients from their next datagrams on, as after a translator of addresses has forgotten them. A
   * client that says nothing more is never found again, so the old ports stay until it does.
   */
  rebind(): void {
    for (const port of this.#ways.keys()) {
      this.#moving.add(port);
    }
  }

  get target(): number {
    return this.#target;
  }

  close(): void {
    this.#end(this.#front);
    for (const way of this.#ways.values()) {
      this.#end(way);
    }
  }
}
