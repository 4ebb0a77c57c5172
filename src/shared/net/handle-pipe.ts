// The only file that uses process.binding: a Unix-domain connection between two processes that are not parent and child, over which open
// sockets travel (SCM_RIGHTS). Node offers that only on the channel of a forked child.

import { LONGEST_SOCKET_PATH } from '../address/socket-path.js';
import { nativeText } from '../text/native-text.js';
import { bareSpec, ListenSocket, type SocketHandle } from './listen-socket.js';

const ENAMETOOLONG = -36;

interface PipeHandle extends SocketHandle {
  pendingHandle?: SocketHandle | null;
  onread?: (data: ArrayBuffer | undefined) => void;
  open(fd: number): number;
  connect(request: Request, path: string): number;
  readStart(): number;
  writeLatin1String(request: Request, text: string, handle?: SocketHandle): number;
}

interface Request {
  oncomplete?: (status: number) => void;
}

interface Bindings {
  readonly Pipe: new (type: number) => PipeHandle;
  readonly PipeConnectWrap: new () => Request;
  readonly WriteWrap: new () => Request;
  readonly constants: { readonly IPC: number };
}

let loaded: Bindings | undefined;

function bindings(): Bindings {
  if (loaded === undefined) {
    const { binding } = process as unknown as { binding(name: string): Partial<Bindings> };
    loaded = { ...binding('pipe_wrap'), ...binding('stream_wrap') } as Bindings;
  }
  return loaded;
}

/** Handles whose descriptor a {@link HandlePipe} has taken; never closed nor collected, since that would close the descriptor again. */
const emptied: SocketHandle[] = [];

/** What arrives on a {@link HandlePipe}. */
export interface HandlePipeEvents {
  handle?(handle: SocketHandle): void;
  /** Every text, whether a socket came with it or not. */
  text?(text: string): void;
  /** The other side closed, or the connection broke. Called once. */
  end?(): void;
}

/** One end of a connection that carries texts and open sockets. */
export class HandlePipe {
  readonly #pipe: PipeHandle;
  readonly #writes = new Set<Request>();
  #ended = false;

  private constructor(pipe: PipeHandle) {
    this.#pipe = pipe;
  }

  /** Connects to a path; `done` gets the negated errno when that fails. */
  static connect(path: string, events: HandlePipeEvents, done: (result: HandlePipe | number) => void): void {
    if (path.length > LONGEST_SOCKET_PATH) {
      done(ENAMETOOLONG);
      return;
    }
    const { Pipe, PipeConnectWrap, constants } = bindings();
    const pipe = new Pipe(constants.IPC);
    const request = new PipeConnectWrap();
    request.oncomplete = (status) => {
      if (status < 0) {
        pipe.close();
        done(status);
        return;
      }
      const connected = new HandlePipe(pipe);
      connected.#listen(events);
      done(connected);
    };
    pipe.connect(request, nativeText(path));
  }

  /** Makes an accepted connection carry sockets. */
  static accepted(client: SocketHandle, events: (pipe: HandlePipe) => HandlePipeEvents): void {
    const { Pipe, constants } = bindings();
    const pipe = new Pipe(constants.IPC);
    // An accepted handle cannot carry sockets. It has not been started, so libuv lets a second one have its descriptor.
    if (pipe.open(client.fd) < 0) {
      client.close();
      return;
    }
    emptied.push(client);
    const accepted = new HandlePipe(pipe);
    accepted.#listen(events(accepted));
  }

  /** Sends a text, and a socket with it. The socket stays open here. */
  send(text: string, handle?: SocketHandle): void {
    const request = new (bindings().WriteWrap)();
    request.oncomplete = () => this.#writes.delete(request);
    this.#writes.add(request);
    this.#pipe.writeLatin1String(request, text, handle);
  }

  /** Closes the connection. */
  close(): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#pipe.close();
    }
  }

  #listen(events: HandlePipeEvents): void {
    this.#pipe.onread = (data) => {
      const handle = this.#pipe.pendingHandle;
      this.#pipe.pendingHandle = null;
      if (handle) {
        events.handle?.(handle);
      }
      if (data !== undefined) {
        events.text?.(Buffer.from(data).toString('latin1'));
      } else if (!this.#ended) {
        this.close();
        events.end?.();
      }
    };
    this.#pipe.readStart();
  }
}

/** A Unix-domain socket that accepts {@link HandlePipe} connections. */
export class HandlePipeServer {
  readonly #socket: ListenSocket;

  private constructor(socket: ListenSocket) {
    this.#socket = socket;
  }

  /** Binds the path, for this user only, and does not listen yet. Throws the system's error. */
  static bind(path: string): HandlePipeServer {
    return new HandlePipeServer(ListenSocket.bind(bareSpec('unix', path), 0o600));
  }

  /** Accepts connections from now on. */
  listen(events: (pipe: HandlePipe) => HandlePipeEvents): void {
    const { handle } = this.#socket;
    handle.onconnection = (status, client) => {
      if (status >= 0 && client !== undefined) {
        HandlePipe.accepted(client, events);
      }
    };
    handle.listen(8);
  }
}
