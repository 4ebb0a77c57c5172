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

/**
 * Finds a TCP port that is free on 127.0.0.1 and keeps other tests away from it, also those in other processes: the
 * reservation is a UDP socket bound to the same number, which the system lets go of when the process ends in any way.
 */
export async function reservePort(): Promise<ReservedPort> {
  for (let tries = LAST - FIRST; tries > 0; tries--) {
    const port = next;
    next = next + 1 < LAST ? next + 1 : FIRST;
    const lock = await lockPort(port);
    if (lock === undefined) {
      continue;
    }
    if (await isFree(port)) {
      return { port, release: () => lock.close() };
    }
    lock.close();
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

function lockPort(port: number): Promise<Socket | undefined> {
  return new Promise((done) => {
    const socket = createSocket('udp4');
    socket.once('error', () => done(undefined));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
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
