// The backend behind the server under test, in a process of its own: answers small and large, counts uploads, echoes over
// a tunnel. It says its port to the parent.
import { createServer } from 'node:http';

const large = Buffer.alloc(1 << 20, 'large');

const server = createServer({ keepAliveTimeout: 600_000, requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://origin');
  const answer =
    routes[pathname.startsWith('/proxy/own/') ? '/proxy/own' : pathname] ?? ((_request, response, url) => response.end(`body of ${url}`));
  answer(request, response, request.url, searchParams);
});

const routes = {
  '/large'(_request, response, _url, query) {
    const total = Number(query.get('bytes') ?? 20_000_000);
    let left = total;
    response.writeHead(200, { 'Content-Length': total });
    const more = () => {
      while (left > 0) {
        const piece = large.subarray(0, Math.min(left, large.length));
        left -= piece.length;
        if (!response.write(piece)) {
          return response.once('drain', more);
        }
      }
      response.end();
    };
    more();
  },
  '/endless'(_request, response) {
    const more = () => {
      while (!response.destroyed) {
        if (!response.write(large)) {
          return response.once('drain', more);
        }
      }
    };
    more();
  },
  '/proxy/own'(_request, response, url, query) {
    response.end(url.split('?')[0].repeat(Number(query.get('n'))));
  },
  '/proxy/echo'(request, response) {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => response.end(Buffer.concat(pieces)));
  },
  '/upload'(request, response) {
    let size = 0;
    request.on('data', (chunk) => (size += chunk.length));
    request.on('end', () => response.end(`got ${size}`));
  },
};

server.on('upgrade', (_request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});
server.listen(0, '127.0.0.1', () => process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
process.on('disconnect', () => process.exit());
