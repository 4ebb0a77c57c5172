import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { quicCalls } from '../../src/worker/net/openssl/quic-library.js';

let calls: ReturnType<typeof bind> | undefined;

function bind() {
  const { find } = quicCalls().library;
  const memory = find('intptr_t BIO_s_mem()')();
  const context = find('intptr_t SSL_CTX_new(intptr_t)')(find('intptr_t TLS_client_method()')());
  const create = find('intptr_t SSL_new(intptr_t)');
  const pipe = find('intptr_t BIO_new(intptr_t)');
  return {
    create: () => create(context),
    free: find('void SSL_free(intptr_t)'),
    connectState: find('void SSL_set_connect_state(intptr_t)'),
    pipe: () => pipe(memory),
    setPipes: find('void SSL_set_bio(intptr_t, intptr_t, intptr_t)'),
    put: find('int BIO_write(intptr_t, void *, int)'),
    take: find('int BIO_read(intptr_t, void *, int)'),
    handshake: find('int SSL_do_handshake(intptr_t)'),
    isFinished: find('int SSL_is_init_finished(intptr_t)'),
    read: find('int SSL_read(intptr_t, void *, int)'),
    write: find('int SSL_write(intptr_t, void *, int)'),
    setShutdown: find('void SSL_set_shutdown(intptr_t, int)'),
    shutdown: find('int SSL_shutdown(intptr_t)'),
    writeEarly: find('int SSL_write_early_data(intptr_t, void *, size_t, void *)'),
    earlyStatus: find('int SSL_get_early_data_status(intptr_t)'),
    session: find('intptr_t SSL_get1_session(intptr_t)'),
    setSession: find('int SSL_set_session(intptr_t, intptr_t)'),
    mostEarly: find('uint32_t SSL_SESSION_get_max_early_data(intptr_t)'),
    control: find('long SSL_ctrl(intptr_t, int, long, void *)'),
    setProtocols: find('int SSL_set_alpn_protos(intptr_t, void *, unsigned int)'),
    clearErrors: find('void ERR_clear_error()'),
  };
}

const ACCEPTED = 2;
const SERVER_NAME = 55;
/** SSL_SENT_SHUTDOWN. */
const SENT = 1;

/** A session of an earlier connection, by which the next one to the same server may send early data. */
export type TlsSession = number;

/**
 * A client's connection over TLS 1.3. With a session of an earlier one, what is written first goes out as early data, and once more where
 * the server does not take it. It checks no certificate.
 */
export class EarlySocket extends Duplex {
  readonly #socket: Socket;
  readonly #ssl: number;
  readonly #received: number;
  readonly #sent: number;
  readonly #piece = Buffer.alloc(32_768);
  /** What is to be sent, until the handshake is over. */
  #waiting: Buffer[] = [];
  #early: Buffer | undefined;
  /** As many bytes as the server lets it send early. */
  #most = 0;
  #ended = false;
  #freed = false;
  /** The server took what was sent early. */
  accepted = false;

  constructor(port: number, protocol: string, session?: TlsSession) {
    super({ allowHalfOpen: true });
    calls ??= bind();
    this.#ssl = calls.create();
    this.#received = calls.pipe();
    this.#sent = calls.pipe();
    calls.setPipes(this.#ssl, this.#received, this.#sent);
    calls.connectState(this.#ssl);
    const wire = Buffer.from([protocol.length, ...Buffer.from(protocol)]);
    calls.setProtocols(this.#ssl, wire, wire.length);
    calls.control(this.#ssl, SERVER_NAME, 0, Buffer.from('localhost\0'));
    this.#most = session === undefined ? 0 : calls.mostEarly(session);
    if (this.#most > 0) {
      calls.setSession(this.#ssl, session!);
      this.#early = Buffer.alloc(0);
    }
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#socket.on('connect', () => this.emit('connect'));
    this.#socket.on('data', (bytes) => this.#take(bytes));
    this.#socket.on('end', () => this.#end());
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => this.destroy());
  }

  get localPort(): number | undefined {
    return this.#socket.localPort;
  }

  /** The newest session, which the next connections may begin with; it must be given out before this one ends. */
  get session(): TlsSession {
    return calls!.session(this.#ssl);
  }

  /** The handshake is over. */
  get secured(): boolean {
    return calls!.isFinished(this.#ssl) === 1;
  }

  /** Begins the handshake where nothing is sent before. */
  begin(): void {
    this.#shakeHands();
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    if (this.#early !== undefined && this.#early.length === 0) {
      this.#early = bytes.subarray(0, this.#most);
      this.#waiting.push(bytes.subarray(this.#most));
      calls!.writeEarly(this.#ssl, this.#early, this.#early.length, Buffer.alloc(8));
      this.#flush();
      this.#shakeHands();
    } else if (this.secured) {
      this.#send(bytes);
    } else {
      this.#waiting.push(bytes);
      this.#shakeHands();
    }
    done();
  }

  override _final(done: () => void): void {
    if (this.secured) {
      calls!.shutdown(this.#ssl);
      this.#flush();
    }
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    this.#end();
    if (!this.#freed) {
      this.#freed = true;
      // Otherwise the session is good for nothing.
      calls!.setShutdown(this.#ssl, SENT);
      calls!.free(this.#ssl);
    }
    done(error);
  }

  #take(bytes: Buffer): void {
    calls!.put(this.#received, bytes, bytes.length);
    if (!this.secured) {
      this.#shakeHands();
    }
    if (this.secured) {
      this.#readAll();
    }
  }

  #shakeHands(): void {
    const before = this.secured;
    calls!.clearErrors();
    calls!.handshake(this.#ssl);
    this.#flush();
    if (this.secured && !before) {
      this.accepted = calls!.earlyStatus(this.#ssl) === ACCEPTED;
      if (this.#early !== undefined && !this.accepted && this.#early.length > 0) {
        this.#waiting.unshift(this.#early);
      }
      this.#early = undefined;
      for (const bytes of this.#waiting.splice(0)) {
        this.#send(bytes);
      }
      this.emit('secureConnect');
    }
  }

  #send(bytes: Buffer): void {
    if (bytes.length > 0) {
      calls!.write(this.#ssl, bytes, bytes.length);
      this.#flush();
    }
  }

  #readAll(): void {
    calls!.clearErrors();
    for (let length = 1; length > 0 && !this.#freed; ) {
      length = calls!.read(this.#ssl, this.#piece, this.#piece.length);
      if (length > 0) {
        this.push(Buffer.from(this.#piece.subarray(0, length)));
      }
    }
    this.#flush();
  }

  #flush(): void {
    for (let length = 1; length > 0; ) {
      length = calls!.take(this.#sent, this.#piece, this.#piece.length);
      if (length > 0) {
        this.#socket.write(Buffer.from(this.#piece.subarray(0, length)));
      }
    }
  }

  #end(): void {
    if (!this.#ended) {
      this.#ended = true;
      this.push(null);
    }
  }
}

/** Gets a session of a server, once it has given out tickets. */
export function tlsSession(port: number, protocol: string): Promise<TlsSession> {
  const socket = new EarlySocket(port, protocol);
  socket.begin();
  return new Promise((done, fail) => {
    socket.once('error', fail);
    const look = (): void => {
      const session = socket.secured ? socket.session : 0;
      if (session !== 0 && calls!.mostEarly(session) > 0) {
        socket.destroy();
        done(session);
      } else {
        setTimeout(look, 5);
      }
    };
    look();
  });
}
