import { HeaderSlot, slotNames } from './header-names.js';
import { METHOD } from './method.js';

/** `RequestHead.connection`: no Connection header said anything. */
export const CONNECTION_UNSET = 0;
export const CONNECTION_CLOSE = 1;
export const CONNECTION_KEEP_ALIVE = 2;

/** The parsed head of one request. The parser fills it in the order of the bytes; a request that was refused has what came before. */
export class RequestHead {
  /** The method's name as sent. */
  method = '';
  /** One of `METHOD`. */
  methodBit: number = METHOD.UNKNOWN;
  /** The whole request line; of a refused or unfinished one, what had arrived of it. */
  line = '';
  /** The version's text as sent ("HTTP/1.1"); none in HTTP/0.9, and empty where it could not be read. */
  protocol: string | undefined = undefined;
  /** Major * 1000 + minor; HTTP/0.9 is 9. 0 until the request line is read. */
  version = 0;
  /** The scheme of an absolute request target. */
  schema = '';
  /** The request target without scheme and host, as sent (nginx: r->unparsed_uri). */
  unparsedUri = '';
  /** Whether `unparsedUri` can be passed on as it is; it cannot be when it has no path (nginx: r->valid_unparsed_uri). */
  validUnparsedUri = false;
  uri = '';
  args = '';
  exten = '';
  complexUri = false;
  quotedUri = false;
  plusInUri = false;

  /** The host from the request target, else from the Host header, normalised; empty if there was none (nginx: headers_in.server). */
  host = '';
  /** The port that came with `host`; 0 if there was none. */
  port = 0;

  /** Header names and values in turns, in the order and case they were sent. */
  headers: string[] = [];
  /** The names of `headers` in lower case. */
  names: string[] = [];
  /** Bit N: a header line for the slot N has come. Most of those that are asked for have not, and no others are looked for. */
  #present = 0;

  /** One of CONNECTION_UNSET, CONNECTION_CLOSE and CONNECTION_KEEP_ALIVE. */
  connection = CONNECTION_UNSET;
  /** The value of Content-Length; -1 if there was none. */
  contentLength = -1;
  /** Whether the body is chunked. */
  chunked = false;

  /** The bytes of the lines read (nginx: r->request_length). */
  length = 0;
  /** The offset of the first byte after the head in the buffer that `HeadParser.parse` was given last. */
  end = 0;
  /** Bytes that nginx's buffer of the head has left behind the head. */
  room = 0;

  /** Why the request was refused, as the error log says it; empty if the owner has logged the reason itself. */
  error = '';
  /** Whether the connection has to be closed lingering: the client is probably still sending. */
  lingeringClose = false;

  /** The value of the first header line for a slot of {@link HeaderSlot}. */
  known(slot: number): string | undefined {
    return this.has(slot) ? this.header(slotNames[slot]!) : undefined;
  }

  /** A header line for a slot of {@link HeaderSlot} is there. */
  has(slot: number): boolean {
    return (this.#present & (1 << slot)) !== 0;
  }

  /** The header line that was added last, or will be added next, is one for a slot of {@link HeaderSlot}. */
  note(slot: number): void {
    this.#present |= 1 << slot;
  }

  /** The value of the first header line with this name, in lower case. */
  header(name: string): string | undefined {
    const i = this.names.indexOf(name);
    return i === -1 ? undefined : this.headers[i * 2 + 1];
  }

  /** Puts one header line (name in lower case) in the place of all that have the name; without a value it takes them away. */
  replace(name: string, value: string | undefined): void {
    let put = value === undefined;
    for (let i = 0; i < this.names.length; i++) {
      if (this.names[i] !== name) {
        continue;
      }
      if (put) {
        this.names.splice(i, 1);
        this.headers.splice(2 * i, 2);
        i--;
      } else {
        this.headers[2 * i + 1] = value!;
        put = true;
      }
    }
    if (!put) {
      this.names.push(name);
      this.headers.push(name, value!);
    }
  }

  /** The values of all header lines with this name, in lower case, joined with `separator`. */
  joined(name: string, separator: string): string | undefined {
    let i = this.names.indexOf(name);
    if (i === -1) {
      return undefined;
    }
    let value = this.headers[i * 2 + 1]!;
    while ((i = this.names.indexOf(name, i + 1)) !== -1) {
      value += separator + this.headers[i * 2 + 1];
    }
    return value;
  }

  /** The value of the Host header as sent. */
  get hostHeader(): string | undefined {
    return this.known(HeaderSlot.host);
  }
}
