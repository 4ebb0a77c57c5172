// The only file that uses process.binding: a Unix-domain connection between two processes that are not parent and child, over which open
// sockets travel (SCM_RIGHTS). Node offers that only on the channel of a forked child.
import { nativeText } from '../lib/native-text.js';
import { adoptDescriptor, type SocketHandle } from './listen-socket.js';

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
  readonly #accepted: SocketHandle | undefined;
  readonly #writes = new Set<Request>();
  #ended = false;

  private constructor(pipe: PipeHandle, accepted?: SocketHandle) {
    this.#pipe = pipe;
    this.#accepted = accepted;
  }

  /** Connects to a path; `done` gets the negated errno when that fails. */
  static connect(path: string, events: HandlePipeEvents, done: (result: HandlePipe | number) => void): void {
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

  /** Waits on a bound control socket, given as an inherited descriptor, for one connection, and then lets go of that socket. */
  static acceptOne(fd: number, events: (pipe: HandlePipe) => HandlePipeEvents): void {
    const { Pipe, constants } = bindings();
    const control = adoptDescriptor(fd);
    control.onconnection = (status, client) => {
      if (status < 0 || client === undefined) {
        return;
      }
      control.close();
      const pipe = new Pipe(constants.IPC);
      // An accepted handle cannot carry sockets. It has not been started, so libuv lets a second one have its descriptor; both are kept,
      // since each would close it.
      pipe.open(client.fd);
      const accepted = new HandlePipe(pipe, client);
      accepted.#listen(events(accepted));
    };
    control.listen(16);
  }

  /** Sends a text, and a socket with it. The socket stays open here. */
  send(text: string, handle?: SocketHandle): void {
    const request = new (bindings().WriteWrap)();
    request.oncomplete = () => this.#writes.delete(request);
    this.#writes.add(request);
    this.#pipe.writeLatin1String(request, text, handle);
  }

  /** Closes a connection that was made by `connect`; an accepted one closes with its process. */
  close(): void {
    this.#ended = true;
    if (this.#accepted === undefined) {
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
