// Loaded into every process of the server before anything else (NODE_OPTIONS): makes one call of a kind fail when it is told to. A worker takes
// orders on a Unix-domain socket named by its process id: {"kind", "nth", "code"} arms, and each order is answered with
// {"calls", "failed"} of the one before.
const fs = require('node:fs');
const net = require('node:net');
const { syncBuiltinESMExports } = require('node:module');

const sync = [
  'openSync',
  'fstatSync',
  'statSync',
  'lstatSync',
  'readSync',
  'writeSync',
  'writevSync',
  'closeSync',
  'renameSync',
  'unlinkSync',
  'mkdirSync',
  'ftruncateSync',
  'fchmodSync',
  'futimesSync',
];
const later = ['open', 'fstat', 'stat', 'read', 'write', 'writev', 'close', 'rename', 'unlink', 'mkdir'];
const onSockets = ['connect', 'writeBuffer', 'writeLatin1String', 'writev', 'readStart', 'shutdown'];
const numbers = { EIO: -5, EMFILE: -24, ENOSPC: -28, EPIPE: -32 };

let armed = { kind: '', nth: 0, code: '' };
let calls = 0;
let failed = 0;

/** Whether this call is the one that fails. */
function fails(kind) {
  if (armed.kind !== kind || ++calls !== armed.nth) {
    return false;
  }
  failed++;
  return true;
}

function fault(kind) {
  // Without a code it is a mistake of the program's own, which nobody expects.
  if (armed.code === '') {
    return new TypeError(`made to fail: ${kind}`);
  }
  return Object.assign(new Error(`${armed.code}: made to fail, ${kind}`), { code: armed.code, errno: numbers[armed.code], syscall: kind });
}

if (process.argv[1]?.endsWith('worker.js') && process.env.FAULTS !== undefined) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (order) => {
      const before = JSON.stringify({ calls, failed });
      calls = 0;
      failed = 0;
      armed = { kind: '', nth: 0, code: '' };
      socket.end(before, () => Object.assign(armed, JSON.parse(order)));
    });
  });
  server.listen({ path: `${process.env.FAULTS}/${process.pid}.sock`, exclusive: true }).unref();
  for (const kind of sync) {
    const real = fs[kind];
    fs[kind] = (...args) => {
      if (fails(kind)) {
        throw fault(kind);
      }
      return real(...args);
    };
  }
  for (const kind of later) {
    const real = fs[kind];
    fs[kind] = (...args) => {
      if (!fails(kind)) {
        return real(...args);
      }
      const callback = args.at(-1);
      if (typeof callback === 'function') {
        setImmediate(callback, fault(kind));
      }
    };
  }
  const { TCP } = process.binding('tcp_wrap');
  for (const kind of onSockets) {
    for (let at = TCP.prototype; at !== null; at = Object.getPrototypeOf(at)) {
      if (!Object.hasOwn(at, kind)) {
        continue;
      }
      const real = at[kind];
      at[kind] = function (...args) {
        return fails(`socket.${kind}`) ? (numbers[armed.code] ?? -5) : real.apply(this, args);
      };
    }
  }
  syncBuiltinESMExports();
}

module.exports = { kinds: [...sync, ...later, ...onSockets.map((kind) => `socket.${kind}`)] };
