import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { bareSpec, ListenSocket } from '../../src/shared/net/listen-socket.js';
import type { UringEngine } from '../../src/shared/net/uring/engine.js';
import { UringListener } from '../../src/worker/net/uring/uring-listener.js';
import type { UringSocket } from '../../src/worker/net/uring/uring-socket.js';
import { NotingOwner } from './accepted.js';

/** A ring that serves in this process, or why there is none. */
export const ring = makeRing();

if (typeof ring !== 'string') {
  ring.start();
}

/** For tests that need a ring: what `t.test` takes to skip them by name. */
export const needsRing = { skip: typeof ring === 'string' && `no io_uring: ${ring}` };

/** A listener of its own on the ring; `accept` is given what it accepts. Returns its port. */
export function listenOnRing(t: Test, engine: UringEngine, accept: (socket: UringSocket) => void, workers = 1): number {
  const listening = ListenSocket.bind({ ...bareSpec('ipv4', '127.0.0.1'), backlog: 511 });
  listening.attach(undefined as never, new UringListener(engine, workers, accept));
  let failure: Error | undefined;
  listening.open((error) => {
    failure = error;
  });
  if (failure !== undefined) {
    throw failure;
  }
  t.teardown(() => listening.close());
  const name: { port?: number } = {};
  listening.handle.getsockname!(name);
  return name.port!;
}

/** Opens a connection that is accepted on the ring; resolves with both ends. */
export async function acceptOnRing(t: Test, engine: UringEngine): Promise<{ client: Socket; socket: UringSocket }> {
  let accepted = (_socket: UringSocket): void => {};
  const socket = new Promise<UringSocket>((done) => {
    accepted = done;
  });
  const port = listenOnRing(t, engine, (each) => accepted(each));
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  t.teardown(() => client.destroy());
  await once(client, 'connect');
  return { client, socket: await socket };
}

/** Both ends of a new connection; what happens on the server's side is noted. The client does not read yet. */
export async function pairOnRing(t: Test, engine: UringEngine) {
  const { client, socket } = await acceptOnRing(t, engine);
  client.pause();
  t.teardown(() => socket.close());
  const owner = new NotingOwner();
  socket.start(owner);
  return { client, socket, owner };
}
