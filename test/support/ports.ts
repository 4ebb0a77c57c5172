import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** A port that belongs to one test until it lets go of it. */
export interface ReservedPort {
  readonly port: number;
  release(): void;
}

// Below the kernel's ephemeral range, so that no outgoing connection takes a reserved port in the meantime.
const FIRST = 10_000;
const LAST = 32_000;

let next = FIRST + ((process.pid * 61) % (LAST - FIRST));

/** Where reservations are: tests use ports of 127.0.0.1, of TCP and of UDP. */
const LOCKS = '127.0.0.254';

/**
 * Finds a port that is free on 127.0.0.1, for TCP and for UDP, and keeps other tests away from it, also those in other processes: the
 * reservation is a UDP socket bound to the same number of another address, which the system lets go of when the process ends in any way.
 */
export async function reservePort(): Promise<ReservedPort> {
  for (let tries = LAST - FIRST; tries > 0; tries--) {
    const port = next;
    next = next + 1 < LAST ? next + 1 : FIRST;
    const lock = await bindUdp(port, LOCKS);
    if (lock === undefined) {
      continue;
    }
    const datagrams = await bindUdp(port, '127.0.0.1');
    datagrams?.close();
    if (datagrams !== undefined && (await isFree(port))) {
      return { port, release: () => lock.close() };
    }
    lock.close();
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

function bindUdp(port: number, address: string): Promise<Socket | undefined> {
  return new Promise((done) => {
    const socket = createSocket('udp4');
    socket.once('error', () => done(undefined));
    socket.bind({ port, address, exclusive: true }, () => {
      socket.unref();
      done(socket);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(true)));
  });
}
