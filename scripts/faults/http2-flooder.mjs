// A backend of HTTP/2 that floods whoever asks it, in a process of its own. It says its port to the parent, which sends the name of a
// flood; 'count' is answered with how many connections there were and how many bytes they took.
import { createServer } from 'node:net';
import { END_HEADERS, END_STREAM, field, frame, number32, PREFACE, settings, T } from './http2-frames.mjs';

const BATCH = 100;
const ok = field(':status', '200');
const always = (bytes) => {
  const batch = Buffer.concat(Array.from({ length: BATCH }, () => bytes));
  return () => batch;
};
const head = (id) => frame(T.HEADERS, END_HEADERS, id, ok);
/** A head first, and then always the same. */
const behind = (make) => (round, id) => (round === 0 ? head(id) : always(make(id))());
const once = (make) => (round, id) => (round === 0 ? make(id) : undefined);
const large = field('x-bomb', 'b'.repeat(16_000));

/** For each flood, the bytes of a round for the first stream of a connection; undefined: nothing more. */
const floods = {
  settings: always(frame(T.SETTINGS, 0, 0, settings(4, 65535, 1, 4096))),
  ping: always(frame(T.PING, 0, 0, Buffer.alloc(8))),
  priority: (_round, id) => always(frame(T.PRIORITY, 0, id, Buffer.from([0x80, 0, 0, 0, 255])))(),
  unknown: always(frame(77, 0, 0, Buffer.alloc(100))),
  windowUpdate: behind((id) => frame(T.WINDOW_UPDATE, 0, id, number32(1))),
  emptyData: behind((id) => frame(T.DATA, 0, id)),
  oneByteData: behind((id) => frame(T.DATA, 0, id, Buffer.from('x'))),
  continuation: (round, id) => (round === 0 ? frame(T.HEADERS, 0, id, ok) : always(frame(T.CONTINUATION, 0, id))()),
  headerBomb: (round, id) => frame(round === 0 ? T.HEADERS : T.CONTINUATION, 0, id, round === 0 ? ok : large),
  manyFields: once((id) => frame(T.HEADERS, END_HEADERS, id, Buffer.concat([ok, ...Array.from({ length: 4000 }, () => field('x', ''))]))),
  hints: (_round, id) => always(frame(T.HEADERS, END_HEADERS, id, field(':status', '103')))(),
  trailers: behind((id) => frame(T.HEADERS, END_HEADERS, id, field('x-trailer', 'y'))),
  refused: (_round, id) => frame(T.RST_STREAM, 0, id, number32(7)),
  reset: (_round, id) => Buffer.concat([head(id), frame(T.DATA, 0, id, Buffer.from('part')), frame(T.RST_STREAM, 0, id, number32(2))]),
  goaway: once(() => frame(T.GOAWAY, 0, 0, Buffer.alloc(8))),
  noWindow: once(() => frame(T.SETTINGS, 0, 0, settings(4, 0))),
  push: (_round, id) => frame(5, END_HEADERS, id, Buffer.concat([number32(2), ok])),
  whole: once((id) => Buffer.concat([head(id), frame(T.DATA, END_STREAM, id, Buffer.from('well'))])),
};

let flood = floods.whole;
let counts = { connections: 0, bytes: 0 };

const server = createServer((socket) => {
  counts.connections++;
  let bytes = Buffer.alloc(0);
  let skipped = PREFACE.length;
  const make = flood;
  // Floods of one answer answer each request; the others begin with the first.
  const each = [floods.whole, floods.reset, floods.refused, floods.manyFields].includes(make);
  let flooding = false;
  const send = (piece) => {
    counts.bytes += piece.length;
    return socket.write(piece);
  };
  const pour = (id) => {
    let round = 0;
    const more = () => {
      for (let room = true; room && !socket.destroyed; ) {
        const piece = make(round++, id);
        if (piece === undefined) {
          return;
        }
        room = send(piece);
        if (room && round % 20 === 0) {
          setImmediate(more);
          return;
        }
      }
    };
    socket.on('drain', more);
    more();
  };
  socket.on('error', () => {});
  socket.on('end', () => socket.destroy());
  socket.on('data', (piece) => {
    const cut = Math.min(skipped, piece.length);
    skipped -= cut;
    bytes = Buffer.concat([bytes, piece.subarray(cut)]);
    for (let size; bytes.length >= 9 && bytes.length >= (size = 9 + bytes.readUIntBE(0, 3)); bytes = bytes.subarray(size)) {
      const [type, id] = [bytes[3], bytes.readUInt32BE(5)];
      if (type !== T.HEADERS) {
        continue;
      }
      if (each) {
        send(make(0, id));
      } else if (!flooding) {
        flooding = true;
        pour(id);
      }
    }
  });
  send(frame(T.SETTINGS, 0, 0));
});

process.on('message', (message) => {
  if (message === 'count') {
    process.send?.(counts);
    counts = { connections: 0, bytes: 0 };
  } else if (message === 'names') {
    process.send?.(Object.keys(floods));
  } else {
    flood = floods[message];
  }
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
