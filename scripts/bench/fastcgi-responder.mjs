// The backend of the FastCGI rows: answers every request over kept connections with a small page, or with that of a file if its path ends
// with .html. node scripts/bench/fastcgi-responder.mjs PORT FILE; a parent that speaks IPC is told when it listens.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const PARAMS = 4;
const STDIN = 5;
const record = (type, content) => {
  const head = Buffer.from([1, type, 0, 1, content.length >> 8, content.length & 255, 0, 0]);
  return Buffer.concat([head, content]);
};
const HEAD = 'X-Powered-By: bench\r\nContent-Type: text/html; charset=UTF-8\r\n\r\n';
const answerWith = (body) =>
  Buffer.concat([record(6, Buffer.concat([Buffer.from(HEAD), body])), record(6, Buffer.alloc(0)), record(3, Buffer.alloc(8))]);
const small = answerWith(Buffer.from('a small response'));
const page = answerWith(readFileSync(process.argv[3]));

createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  let answer = small;
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
      if (all[at + 1] === PARAMS && length > 0) {
        answer = all.subarray(at + 8, end).includes('.html') ? page : small;
      } else if (all[at + 1] === STDIN && length === 0) {
        socket.write(answer);
      }
      at = end;
    }
    rest = all.subarray(at);
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening'));
