// The backend of the FastCGI row: answers every request over kept connections with the same small page.
// node scripts/bench/fastcgi-responder.mjs PORT; a parent that speaks IPC is told when it listens.
import { createServer } from 'node:net';

const STDIN = 5;
const record = (type, content) => {
  const head = Buffer.from([1, type, 0, 1, content.length >> 8, content.length & 255, 0, 0]);
  return Buffer.concat([head, content]);
};
const page = Buffer.from('X-Powered-By: bench\r\nContent-Type: text/html; charset=UTF-8\r\n\r\na small response');
const answer = Buffer.concat([record(6, page), record(6, Buffer.alloc(0)), record(3, Buffer.alloc(8))]);

createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    let at = 0;
    while (all.length - at >= 8) {
      const length = all.readUInt16BE(at + 4);
      const end = at + 8 + length + all[at + 6];
      if (end > all.length) {
        break;
      }
      if (all[at + 1] === STDIN && length === 0) {
        socket.write(answer);
      }
      at = end;
    }
    rest = all.subarray(at);
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening'));
