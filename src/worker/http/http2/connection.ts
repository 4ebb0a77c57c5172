// Longer than most: a connection's whole life, whose steps only make sense together.

import { INFO } from '../../../shared/log/level.js';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import type { DebugClients } from '../../connections/debug-clients.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { Idle } from '../../connections/idle-queue.js';
import { endFailedWork } from '../../task/at-work.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import { KnownClient } from '../connection/known-client.js';
import { Lingering } from '../connection/lingering.js';
import type { Opened } from '../connection/opened.js';
import type { FieldLimits } from '../fields/field-sink.js';
import type { Http2Endpoint } from '../http2-frames/endpoint.js';
import { ReceiveWindow } from '../http2-frames/flow-window.js';
import { Http2FrameReader } from '../http2-frames/frame-reader.js';
import { HeaderBlock } from '../http2-frames/header-block.js';
import { HpackDecoder } from '../http2-frames/hpack/decoder.js';
import type { Output } from '../http2-frames/output.js';
import { DEFAULT_WINDOW, ERROR_CODE, FRAME, MAX_WINDOW, PREFACE } from '../http2-frames/protocol.js';
import { readFrame } from '../http2-frames/read-frame.js';
import { FloodGuard } from '../multiplexed/flood.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import { clientSlot, headSlot } from '../request/client-settings.js';
import { http2Slot } from './http2-settings.js';
import { Http2Streams } from './open-streams.js';
import { Sending } from './sending.js';
import { serverRole } from './server-role.js';
import { sendSettings } from './settings.js';
import type { Http2Stream } from './stream.js';

const State = { OPEN: 0, LINGERING: 1, LOST: 2, CLOSED: 3 } as const;

/**
 * One HTTP/2 client connection: its life, from the preface to the close. What each kind of frame does to it stands in {@link serverRole}
 * and the files beside it, what leaves it in {@link Sending}. nginx: ngx_http_v2.c.
 */
export class Http2Connection extends KnownClient implements SocketOwner, Expiring, HeldConnection, Idle, Http2Endpoint {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly action = 'processing HTTP/2 connection';
  readonly host: ConnectionHost;
  /** The name that the TLS handshake was for, when a server answers to it. */
  readonly serverName: string | undefined;
  readonly deadline: Deadline;
  readonly flood: FloodGuard;
  readonly sending: Sending;
  readonly output: Output;
  readonly streams: Http2Streams;

  // --- what comes in
  readonly frames: Http2FrameReader;
  readonly fieldLimits: FieldLimits;
  readonly decoder: HpackDecoder = new HpackDecoder();
  readonly block: HeaderBlock = new HeaderBlock();
  /** How much the client may send of all bodies together. */
  readonly receiveWindow: ReceiveWindow = new ReceiveWindow(MAX_WINDOW);
  /** The stream of the DATA frame at hand. */
  dataStream: Http2Stream | null = null;
  /** Streams opened by what was read last. */
  newStreams = 0;
  /** How much the client takes of each stream at first. */
  initialWindow: number = DEFAULT_WINDOW;
  /** The client has heard what the server takes. */
  settingsAcknowledged = false;
  #prefaceRead: number;

  readonly #socket: Socket;
  #state: number = State.OPEN;
  #leaving = false;
  #lingering: Lingering | null = null;

  /** `preface`: it came and was right. */
  constructor(
    host: ConnectionHost,
    socket: Socket,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: Opened | undefined,
    preface: boolean,
  ) {
    super(socket, address, id, debugClients, opened);
    this.host = host;
    this.#socket = socket;
    this.serverName = opened?.tls?.serverName;
    this.deadline = opened?.deadline ?? new Deadline(this);
    this.deadline.passTo(this);
    this.sending = new Sending(this, socket);
    this.output = this.sending.output;
    this.streams = new Http2Streams(this);
    const { headLimits } = this.server.conf(headSlot);
    this.fieldLimits = { field: headLimits.largeBufferSize, total: headLimits.largeBufferSize * headLimits.largeBufferCount };
    this.flood = new FloodGuard(this.server.conf(http2Slot).http2MaxConcurrentStreams);
    this.frames = new Http2FrameReader(this.longestSection + 512);
    this.#prefaceRead = preface ? PREFACE.length : 0;
    host.counters.waiting++;
    host.counters.changed();
    host.idle.add(this);
    socket.expectMuch(true);
  }

  /** Begins to read, after it has said what it takes. */
  start(): void {
    this.deadline.set(this.acceptedAt, this.server.conf(headSlot).clientHeaderTimeout);
    sendSettings(this);
    this.#socket.start(this);
    this.noteAccept();
    if (this.host.draining) {
      this.#endIdle();
    } else {
      this.sending.soon();
    }
  }

  get longestSection(): number {
    return this.fieldLimits.total;
  }

  /** Frames are read and sent. */
  get open(): boolean {
    return this.#state === State.OPEN;
  }

  /** The connection is no more, but requests of it still go on. */
  get lost(): boolean {
    return this.#state === State.LOST;
  }

  /** Streams opened after the last one that was named to the client are not served. */
  get leaving(): boolean {
    return this.#leaving;
  }

  // ---------------------------------------------------------------- reading

  // nginx: ngx_http_v2_read_handler.
  socketReceived(bytes: Buffer, length: number): void {
    if (this.#state === State.LINGERING) {
      this.#lingerOn();
      return;
    }
    if (!this.open) {
      return;
    }
    if (this.streams.size === 0 && this.requests > 0 && !this.flood.idleRead(this.server.root.conf(clientSlot).keepaliveRequests)) {
      this.#floodDetected();
      return;
    }
    const { sending } = this;
    sending.hold();
    this.newStreams = 0;
    let at = this.#prefaceRead < PREFACE.length ? this.#readPreface(bytes, length) : 0;
    while (at < length && this.open) {
      try {
        at = readFrame(serverRole, this, bytes, at, length);
      } catch (error) {
        at = this.frames.next;
        if (!endFailedWork(error)) {
          throw error;
        }
      }
    }
    sending.release();
    if (!this.open) {
      return;
    }
    this.flood.moved(length);
    if (this.flood.wasteful) {
      this.#floodDetected();
      return;
    }
    sending.flush();
    this.settle();
  }

  #readPreface(bytes: Buffer, length: number): number {
    const size = Math.min(length, PREFACE.length - this.#prefaceRead);
    if (PREFACE.compare(bytes, 0, size, this.#prefaceRead, this.#prefaceRead + size) !== 0) {
      this.fail(ERROR_CODE.PROTOCOL_ERROR, 'invalid connection preface');
      return length;
    }
    this.#prefaceRead += size;
    return size;
  }

  /** Counts a frame that brings nothing by itself; false if that was one too many. */
  idleFrame(): boolean {
    if (this.flood.idleFrame()) {
      return true;
    }
    this.#floodDetected();
    return false;
  }

  #floodDetected(): void {
    this.fail(ERROR_CODE.NO_ERROR, 'http2 flood detected');
  }

  socketDrained(): void {
    this.sending.unblock();
    if (!this.open) {
      return;
    }
    this.deadline.clear();
    this.sending.flushed();
    this.settle();
  }

  // ---------------------------------------------------------------- waiting

  /** What is to be done now that everything that could be was. nginx: ngx_http_v2_handle_connection. */
  settle(): void {
    const { block, deadline } = this;
    if (!this.open || this.output.blocked) {
      return;
    }
    if (block.streamId !== 0 && !block.refused) {
      // However slowly its bytes come.
      if (!block.timed) {
        deadline.set(performance.now(), this.server.conf(headSlot).clientHeaderTimeout);
      }
      block.timed = true;
      return;
    }
    if (this.streams.size > 0 || !this.sending.idle) {
      deadline.clear();
      return;
    }
    if (this.closed) {
      this.close();
    } else if (this.#leaving) {
      this.#linger();
    } else if (block.refused) {
      deadline.set(this.streams.idleSince, this.server.conf(headSlot).clientHeaderTimeout);
    } else if (this.requests > 0) {
      deadline.set(this.streams.idleSince, this.server.root.conf(clientSlot).keepaliveTimeout);
    } else {
      deadline.set(this.acceptedAt, this.server.conf(headSlot).clientHeaderTimeout);
    }
  }

  expired(): void {
    const { block } = this;
    if (!this.open) {
      this.close();
    } else if (this.output.blocked) {
      this.#noteTimeout();
      this.streams.abandonAll();
      this.#socket.close();
      this.close();
    } else if (block.streamId !== 0 && !block.refused) {
      this.#refuseBlock();
    } else if (this.#prefaceRead < PREFACE.length || this.frames.within || block.refused) {
      this.#noteTimeout();
      this.#endAll(ERROR_CODE.PROTOCOL_ERROR);
    } else if (this.streams.size === 0) {
      this.#endIdle();
    }
  }

  #noteTimeout(): void {
    this.note(INFO, 'client timed out (110: Connection timed out)');
  }

  /** A header section does not come to its end: its stream is over, and what still comes of it is for the tables only. */
  #refuseBlock(): void {
    this.#noteTimeout();
    this.block.refused = true;
    // It was a request, after which the connection goes on like after any other.
    this.requests++;
    this.streams.idleSince = performance.now();
    this.output.numbers(FRAME.RST_STREAM, this.block.streamId, ERROR_CODE.PROTOCOL_ERROR);
    this.sending.flush();
    this.settle();
  }

  // ---------------------------------------------------------------- the end

  /** Says, once, that no further streams are served. */
  sendGoaway(code: number): void {
    if (this.#leaving) {
      return;
    }
    this.#leaving = true;
    // What is wrong with a header section is an answer to its stream.
    const { streamId } = this.block;
    const last = code !== ERROR_CODE.NO_ERROR && streamId % 2 === 1 ? Math.max(this.streams.lastId, streamId) : this.streams.lastId;
    this.output.numbers(FRAME.GOAWAY, 0, last, code);
  }

  /** Gives the connection up, with all of its streams. nginx: ngx_http_v2_connection_error. */
  fail(code: number, message: string): void {
    if (!this.open) {
      return;
    }
    this.note(INFO, message);
    this.#endAll(code);
  }

  #endAll(code: number): void {
    this.sendGoaway(code);
    this.streams.abandonAll();
    this.output.send();
    this.#linger();
  }

  #endIdle(): void {
    this.sendGoaway(ERROR_CODE.NO_ERROR);
    this.output.send();
    this.#linger();
  }

  /** Half-closes and reads on for a while, so that the client can read what was sent. nginx: ngx_http_v2_lingering_close. */
  #linger(): void {
    if (!this.open) {
      return;
    }
    const settings = this.server.root.conf(clientSlot);
    const { logFiles } = this.host.env;
    if (settings.lingeringClose === 'off' || this.closed) {
      logFiles.flushTick();
      this.close();
      return;
    }
    this.#state = State.LINGERING;
    this.#lingering = new Lingering(this.deadline, settings);
    this.#lingering.halfClose(this.#socket, logFiles);
    this.#lingerOn();
    if (this.#state === State.LINGERING) {
      this.sending.resume();
    }
  }

  #lingerOn(): void {
    if (!this.#lingering!.wait()) {
      this.close();
    }
  }

  socketEnded(): void {
    this.closed = true;
    if (this.open && (this.streams.size > 0 || this.frames.within || this.block.open)) {
      this.note(INFO, 'client prematurely closed connection');
    }
    this.#leave();
  }

  get descriptor(): number {
    return this.#socket.descriptor;
  }

  socketClosed(): void {
    this.closed = true;
    this.#leave();
  }

  /** The client has gone: what is done for it goes on as far as it does not heed that. */
  #leave(): void {
    if (this.#state === State.OPEN || this.#state === State.LINGERING) {
      this.streams.abandonAll();
      this.close();
    }
  }

  /** The worker is about to leave: no further requests are taken. */
  drain(_now: number): void {
    if (!this.open) {
      return;
    }
    if (this.streams.size === 0) {
      this.#endIdle();
    } else {
      this.sendGoaway(ERROR_CODE.NO_ERROR);
      this.sending.soon();
    }
  }

  /** Closes a connection without streams, or one that waits for its client to leave, for a new one. */
  closeIdle(): void {
    if (this.open) {
      this.sendGoaway(ERROR_CODE.NO_ERROR);
    }
    this.output.send();
    this.close();
  }

  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    this.streams.killAll();
    this.close();
  }

  /** Closes the connection; as long as requests go on, it counts as one. nginx: c->error in ngx_http_v2_handle_connection. */
  close(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    if (this.#state !== State.LOST) {
      this.#state = State.LOST;
      this.deadline.clear();
      this.output.drop();
      this.host.idle.remove(this);
      this.#socket.closeSoon();
    }
    if (this.streams.size > 0) {
      return;
    }
    this.#state = State.CLOSED;
    this.host.counters.waiting--;
    this.deadline.close();
    this.host.env.logFiles.flushTick();
    this.host.uncount(this);
    this.host.connectionClosed(this);
  }
}
