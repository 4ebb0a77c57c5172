// Loads a server over HTTP/3, or holds connections to it: the load generator of quic.mjs, a process of its own.
import { makeClient } from './quic-client.mjs';

const [bundle, text] = process.argv.slice(2);
const sources = await import(bundle);
const { DatagramHandle, UringUdpSocket, HandleUdpSocket, setUdpOptions, setNumber, quicCalls, makeRing } = sources;
const options = JSON.parse(text);
const [SOL_SOCKET, SO_RCVBUFFORCE] = [1, 33];
const LOOK_MS = 250;

const ring = makeRing();
if (typeof ring !== 'string') {
  ring.start();
}
const handle = DatagramHandle.bind({ address: '127.0.0.1', port: 0 }, false, false);
setUdpOptions(quicCalls().native, handle.fd, 2, { local: false, joined: typeof ring !== 'string' }, true);
// Who may not, has what the system lets everybody have.
setNumber(quicCalls().native, handle.fd, SOL_SOCKET, SO_RCVBUFFORCE, 16 * 1024 * 1024);
const socket = typeof ring === 'string' ? new HandleUdpSocket(handle, () => client) : new UringUdpSocket(ring, handle, () => client);
const client = makeClient(sources, socket, options);

async function load() {
  const looking = setInterval(() => client.look(), LOOK_MS);
  for (let i = 0; i < options.connections; i++) {
    client.begin();
  }
  await new Promise((done) => setTimeout(done, options.seconds * 1000));
  client.stop();
  clearInterval(looking);
  client.leave();
  await new Promise((done) => setTimeout(done, 50));
  console.log(JSON.stringify({ ...client.found, p50: client.latency(0.5), p99: client.latency(0.99) }));
  process.exit(0);
}

/** Opens so many connections, a few at a time, says when they are there, and keeps them until standard input ends. */
async function hold() {
  client.stop();
  let left = options.connections;
  const some = async () => {
    while (left-- > 0) {
      await client.open();
    }
  };
  await Promise.all(Array.from({ length: 16 }, some));
  // The last acknowledgements leave.
  await new Promise((done) => setTimeout(done, 300));
  console.log('held');
  process.stdin.resume().on('end', () => process.exit(0));
}

await (options.hold ? hold() : load());
