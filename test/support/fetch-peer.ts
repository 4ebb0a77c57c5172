import { connect, createServer, type Server, type Socket } from 'node:net';

/** Whom `ngx.fetch` of a row asks: an origin whose answers, and a proxy whose doings, stand in what it is asked for. */
export interface FetchPeer {
  readonly port: number;
  readonly server: Server;
}

/**
 * Starts it. As an origin it knows:
 *
 *   /raw/TEXT        sends the text, percent-decoded to bytes, and ends the connection
 *   /kept/TEXT       sends it and keeps the connection
 *   /count           says how many requests came by the connection, and keeps it; /count/last says that it closes it, and does
 *   /left            answers as one that keeps the connection, and ends it
 *   other paths      the head and the body as they came
 *
 * As a proxy it shows the head of a request for `http:`, and makes a tunnel unless the user's name is `answer`: then the password is the
 * status with which it refuses.
 */
export async function startFetchPeer(): Promise<FetchPeer> {
  const server = createServer((socket) => {
    let requests = 0;
    // A test does not wait for those that are kept.
    socket.unref();
    let text = '';
    socket.on('error', () => undefined);
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
      if (end > 3 && text.length >= end + length) {
        const request = text.slice(0, end + length);
        text = '';
        requests++;
        if (request.startsWith('CONNECT ')) {
          socket.off('data', onData);
          tunnel(socket, request);
        } else {
          answer(socket, request, requests);
        }
      }
    };
    socket.on('data', onData);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  return { port: (server.address() as { port: number }).port, server };
}

const whole = (body: string, more = ''): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

function answer(socket: Socket, request: string, requests: number): void {
  const target = request.split(' ', 2)[1]!;
  const text = (prefix: string): Buffer =>
    Buffer.from(
      target.slice(prefix.length).replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    );
  if (target.startsWith('/raw/')) {
    socket.end(text('/raw/'));
  } else if (target.startsWith('/kept/')) {
    socket.write(text('/kept/'));
  } else if (target === '/count') {
    socket.write(whole(String(requests)));
  } else if (target === '/count/last') {
    socket.end(whole(String(requests), 'Connection: close\r\n'));
  } else if (target === '/left') {
    socket.end(whole(String(requests)));
  } else {
    socket.end(Buffer.from(whole(request), 'latin1'));
  }
}

function tunnel(socket: Socket, request: string): void {
  const [, host, port] = /^CONNECT (.*):(\d+) /.exec(request)!;
  const credentials = /^proxy-authorization: basic (\S+)/im.exec(request)?.[1] ?? '';
  const [user, password] = Buffer.from(credentials, 'base64').toString().split(':', 2);
  if (user === 'answer') {
    socket.end(`HTTP/1.1 ${password} Refused\r\n\r\n`);
    return;
  }
  const onward = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection established\r\nX-A: b\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  socket.on('close', () => onward.destroy());
}
