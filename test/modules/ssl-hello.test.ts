// Hellos of TLS that come in more pieces, and in more records, than any client sends them in.
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as secure } from 'node:tls';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startServer } from '../support/server.js';

/** A client's connection whose first message goes in records of `size` bytes; with `slowly`, those in a write each. */
function inRecords(socket: Socket, size: number, slowly: boolean): Duplex {
  let first = true;
  const duplex = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      const pieces: Buffer[] = [];
      if (first) {
        for (let at = 5; at < bytes.length; at += size) {
          const part = bytes.subarray(at, at + size);
          pieces.push(Buffer.from([22, 3, 1, 0, part.length]), part);
        }
        first = false;
      } else {
        pieces.push(bytes);
      }
      if (!slowly) {
        socket.write(Buffer.concat(pieces));
        done();
        return;
      }
      const next = (): void => {
        const piece = pieces.shift();
        if (piece === undefined) {
          done();
        } else {
          socket.write(piece, () => setImmediate(next));
        }
      };
      next();
    },
    final(done) {
      socket.end();
      done();
    },
  });
  socket.on('data', (bytes) => duplex.push(bytes)).on('end', () => duplex.push(null));
  return duplex;
}

t.test('the server is chosen by a hello in many records', async (t) => {
  const { rsa, ecdsa } = certs();
  const s = await startServer(t, {
    conf: `events {}
    http {
      access_log off;
      server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; return 200 "first $ssl_server_name"; }
      server { listen 127.0.0.1:%%PORT_0%% ssl; server_name a.test; ssl_certificate ${ecdsa.cert}; ssl_certificate_key ${ecdsa.key};
        return 200 "second $ssl_server_name"; }
    }
    stream {
      server { listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; return "stream $ssl_server_name"; }
    }`,
  });
  for (const [size, slowly] of [
    [1, false],
    [7, true],
    [200, true],
  ] as const) {
    const socket = connect({ port: s.port(0), host: '127.0.0.1', noDelay: true });
    const client = secure({ socket: inRecords(socket, size, slowly), servername: 'a.test', rejectUnauthorized: false });
    client.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
    t.match(await text(client), /second a\.test$/, `records of ${size} bytes`);
    if (!againstNginx) {
      const other = connect({ port: s.port(1), host: '127.0.0.1', noDelay: true });
      const session = secure({ socket: inRecords(other, size, slowly), servername: 'b.test', rejectUnauthorized: false });
      t.equal(await text(session), 'stream b.test', `and of stream`);
    }
  }
});
