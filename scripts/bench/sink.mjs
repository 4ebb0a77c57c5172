// The backend of the rows that send much: answers a request once it has read the body that its Content-Length announces, and sends what
// follows an Upgrade back as it came. node scripts/bench/sink.mjs PORT; a parent that speaks IPC is told when it listens.
import { createServer } from 'node:net';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

createServer({ noDelay: true }, (socket) => {
  let head = '';
  /** Bytes of the body still to come, while one is read. */
  let left = 0;
  let echoing = false;
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    if (echoing) {
      socket.write(bytes);
      return;
    }
    if (left > 0) {
      left -= bytes.length;
    } else {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) {
        return;
      }
      if (/^upgrade:/im.test(head)) {
        echoing = true;
        socket.write(UPGRADED);
        return;
      }
      left = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0) - (head.length - end - 4);
      head = '';
    }
    if (left === 0) {
      socket.write(ANSWER);
    }
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening'));
