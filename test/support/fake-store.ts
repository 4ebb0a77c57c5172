import { createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** What speaks the protocol of a store, and answers as a test says. */
export interface FakeStore {
  readonly port: number;
  /** How many commands have come, by their names. */
  readonly commands: ReadonlyMap<string, number>;
  /** Breaks all connections off. */
  breakOff(): void;
}

/** A command's words, in latin1. The answer is sent as it is; undefined for none. */
export type Answers = (words: readonly string[], socket: Socket) => string | undefined;

/** Starts one on a free port of 127.0.0.1. */
export async function startFakeStore(t: Test, answer: Answers): Promise<FakeStore> {
  const sockets = new Set<Socket>();
  const commands = new Map<string, number>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (bytes: Buffer) => {
      rest += bytes.toString('latin1');
      for (let found = takeCommand(rest); found !== undefined; found = takeCommand(rest)) {
        rest = rest.slice(found.length);
        const name = found.words[0]!.toLowerCase();
        commands.set(name, (commands.get(name) ?? 0) + 1);
        const text = answer(found.words, socket);
        if (text !== undefined && !socket.destroyed) {
          socket.write(text, 'latin1');
        }
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const breakOff = (): void => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  t.teardown(() => {
    breakOff();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, commands, breakOff };
}

/** The command that a text begins with, and how long it is; undefined where more has to come. */
function takeCommand(text: string): { words: string[]; length: number } | undefined {
  const [head, count] = /^\*(\d+)\r\n/.exec(text) ?? [];
  if (head === undefined) {
    return undefined;
  }
  const words: string[] = [];
  let at = head.length;
  for (let i = 0; i < Number(count); i++) {
    const [line, length] = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20)) ?? [];
    if (line === undefined || text.length < at + line.length + Number(length) + 2) {
      return undefined;
    }
    words.push(text.slice(at + line.length, at + line.length + Number(length)));
    at += line.length + Number(length) + 2;
  }
  return { words, length: at };
}
