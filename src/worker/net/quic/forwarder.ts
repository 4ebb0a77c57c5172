import { createHmac, timingSafeEqual } from 'node:crypto';
import { DatagramHandle } from '../../../shared/net/datagram-handle.js';
import type { DatagramSocket, DatagramTaker } from '../../../shared/net/datagram-socket.js';

const PROOF = 16;
/** Behind the proof: the mark of ECN, the length of the local address, the client's address, the local one, and the datagram. */
const [ECN_AT, LOCAL_LENGTH_AT, PEER_AT, LOCAL_AT, TEXT_AT] = [16, 17, 18, 46, 66];
const PEER = LOCAL_AT - PEER_AT;
const LOCAL = TEXT_AT - LOCAL_AT;
/** Other processes that are known at a time; of one that has gone it is remembered that it has. */
const MOST_OTHERS = 64;
const LOOPBACK = '127.0.0.1';
const ECONNREFUSED = -111;

/** Takes what came to another process. Returns false when nothing here has that connection. */
export type Deliver = (datagram: Buffer, peer: Buffer, local: Buffer | undefined, ecn: number) => boolean;

/** How sockets are made, which engine ever serves them. */
export interface ForwarderSockets {
  serve(handle: DatagramHandle): DatagramSocket;
  connect(port: number): DatagramSocket | Error;
}

interface Other {
  readonly socket: DatagramSocket;
  gone: boolean;
}

/**
 * Passes datagrams to the process that has their connection: after a reload, old and new workers read the same sockets. The processes talk
 * over the loopback interface, and believe what proves to come from one of them.
 */
export class Forwarder implements DatagramTaker {
  readonly #key: Buffer;
  readonly #sockets: ForwarderSockets;
  readonly #socket: DatagramSocket;
  readonly #deliver: Deliver;
  readonly #others = new Map<number, Other>();
  #ports: readonly number[] = [];
  /** Where other processes find this one. */
  readonly port: number;

  private constructor(socket: DatagramSocket, key: Buffer, sockets: ForwarderSockets, deliver: Deliver) {
    this.#key = key;
    this.#sockets = sockets;
    this.#deliver = deliver;
    this.#socket = socket;
    this.port = socket.local().port ?? 0;
    socket.receive(this);
  }

  /** Undefined where there is no loopback interface: then nothing is passed on. */
  static open(key: Buffer, sockets: ForwarderSockets, deliver: Deliver): Forwarder | undefined {
    const handle = DatagramHandle.bind({ address: LOOPBACK, port: 0 }, false, false);
    return typeof handle === 'number' ? undefined : new Forwarder(sockets.serve(handle), key, sockets, deliver);
  }

  /** Processes are at these ports. */
  know(ports: readonly number[]): void {
    this.#ports = ports.filter((port) => port !== this.port);
  }

  /** Passes a datagram on to all other processes, since nothing tells whose it is. */
  forwardToAll(datagram: Buffer, peer: Buffer, local: Buffer | undefined, ecn: number): void {
    for (const port of this.#ports) {
      this.forward(port, datagram, peer, local, ecn);
    }
  }

  /** Passes a datagram on. Returns false when nobody is there any more. */
  forward(port: number, datagram: Buffer, peer: Buffer, local: Buffer | undefined, ecn: number): boolean {
    const other = this.#other(port);
    if (other === undefined || other.gone) {
      return false;
    }
    const message = Buffer.alloc(TEXT_AT + datagram.length);
    message[ECN_AT] = ecn;
    message[LOCAL_LENGTH_AT] = local?.length ?? 0;
    peer.copy(message, PEER_AT, 0, PEER);
    local?.copy(message, LOCAL_AT, 0, LOCAL);
    datagram.copy(message, TEXT_AT);
    this.#proof(message).copy(message);
    if (other.socket.send(message) === ECONNREFUSED) {
      other.gone = true;
    }
    return !other.gone;
  }

  #other(port: number): Other | undefined {
    const known = this.#others.get(port);
    if (known !== undefined) {
      return known;
    }
    const socket = this.#sockets.connect(port);
    if (socket instanceof Error) {
      return undefined;
    }
    const other = { socket, gone: false };
    socket.receive({
      datagram: () => {},
      receiveFailed: () => {
        other.gone = true;
      },
    });
    if (this.#others.size >= MOST_OTHERS) {
      const [oldest] = this.#others;
      oldest![1].socket.close();
      this.#others.delete(oldest![0]);
    }
    this.#others.set(port, other);
    return other;
  }

  #proof(message: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(message.subarray(PROOF)).digest().subarray(0, PROOF);
  }

  datagram(message: Buffer): void {
    if (message.length <= TEXT_AT || !timingSafeEqual(this.#proof(message), message.subarray(0, PROOF))) {
      return;
    }
    const size = Math.min(LOCAL, message[LOCAL_LENGTH_AT]!);
    const local = size === 0 ? undefined : message.subarray(LOCAL_AT, LOCAL_AT + size);
    this.#deliver(message.subarray(TEXT_AT), message.subarray(PEER_AT, PEER_AT + PEER), local, message[ECN_AT]! & 3);
  }

  receiveFailed(): void {}

  close(): void {
    this.#socket.close();
    for (const { socket } of this.#others.values()) {
      socket.close();
    }
    this.#others.clear();
  }
}
