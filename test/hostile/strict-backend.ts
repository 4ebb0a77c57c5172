import { createServer, type Socket } from 'node:net';
import { quoted } from '../support/case-bytes.js';

/** A backend that reads requests by the letter of RFC 9112 and reports exactly what it read. */
export interface StrictBackend {
  readonly port: number;
  /** Starts a new report; each request is answered with these bytes, or with a plain 200. */
  begin(response: Buffer | undefined): void;
  /** Resolves once no connection holds a request that has only begun, and those are closed that the backend has ended. */
  settled(): Promise<void>;
  /**
   * One line for each request since `begin`: `> ` and its bytes. What breaks the grammar, or is not whole, has a line that begins
   * with `! `.
   */
  report(): string[];
  stop(): void;
}

const HEAD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-~\x80-\xff]+ HTTP\/1\.[01]\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ \t]*[^\r\n\0]*\r\n)*\r\n$/;

const fieldsOf = (head: string, name: string): string[] =>
  [...head.matchAll(new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*\\r$`, 'gim'))].map(([, value]) => value!);

/** The length of the first request in `text`, 0 while more must come, or what is wrong with it. */
function requestLength(text: string): number | string {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd === 3) {
    return 0;
  }
  const head = text.slice(0, headEnd);
  if (!HEAD.test(head)) {
    return 'a head that breaks the grammar';
  }
  const lengths = fieldsOf(head, 'content-length');
  const codings = fieldsOf(head, 'transfer-encoding');
  if (fieldsOf(head, 'host').length > 1) {
    return 'several Host headers';
  }
  if (lengths.length + codings.length > 1) {
    return 'two framings';
  }
  if (codings.length === 0) {
    if (lengths.length === 1 && !/^[0-9]{1,15}$/.test(lengths[0]!)) {
      return 'a length that is no number';
    }
    const end = headEnd + Number(lengths[0] ?? 0);
    return text.length < end ? 0 : end;
  }
  if (codings[0]!.toLowerCase() !== 'chunked') {
    return 'an unknown coding';
  }
  const chunk = /([0-9a-f]{1,8})\r\n/iy;
  for (let at = headEnd; ; ) {
    chunk.lastIndex = at;
    const found = chunk.exec(text);
    if (found === null) {
      return text.length - at < 10 && /^[0-9a-f]{0,8}\r?$/i.test(text.slice(at)) ? 0 : 'a malformed chunk';
    }
    const size = Number.parseInt(found[1]!, 16);
    at = chunk.lastIndex + size + 2;
    if (text.length < at) {
      return 0;
    }
    if (text.slice(at - 2, at) !== '\r\n') {
      return size === 0 ? 'trailers' : 'a chunk without its end';
    }
    if (size === 0) {
      return at;
    }
  }
}

/** Starts the backend on a free port of 127.0.0.1. */
export async function startStrictBackend(): Promise<StrictBackend> {
  let lines: string[] = [];
  let response: Buffer | undefined;
  let notify = (): void => {};
  /** The connections, with what was read of a request that is not whole. */
  const open = new Map<Socket, string>();
  const ended = new Set<Socket>();

  const read = (socket: Socket, text: string): void => {
    let rest = text;
    while (rest !== '') {
      const length = requestLength(rest);
      if (length === 0) {
        break;
      }
      if (typeof length === 'string') {
        lines.push(`! ${length}: ${quoted(rest)}`);
        rest = '';
        socket.destroy();
        break;
      }
      lines.push(`> ${quoted(rest.slice(0, length))}`);
      const method = rest.slice(0, rest.indexOf(' '));
      rest = rest.slice(length);
      if (response !== undefined) {
        socket.end(response);
        ended.add(socket);
      } else {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${method === 'HEAD' ? '' : 'ok'}`);
      }
    }
    open.set(socket, rest);
    notify();
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.set(socket, '');
    socket.on('data', (piece: Buffer) => read(socket, open.get(socket)! + piece.toString('latin1')));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      const rest = open.get(socket)!;
      if (rest !== '') {
        lines.push(`! incomplete: ${quoted(rest)}`);
      }
      open.delete(socket);
      ended.delete(socket);
      notify();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as { port: number }).port,
    begin(next) {
      lines = [];
      response = next;
    },
    settled: () =>
      new Promise((done) => {
        notify = () => ended.size === 0 && [...open.values()].every((rest) => rest === '') && done();
        notify();
      }),
    report: () => lines,
    stop() {
      server.close();
      for (const socket of open.keys()) {
        socket.destroy();
      }
    },
  };
}
