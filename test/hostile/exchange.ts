import { connect } from 'node:net';
import { quoted } from '../support/case-bytes.js';
import { parseResponse } from '../support/response.js';
import type { HostileCase } from './cases.js';
import type { StrictBackend } from './strict-backend.js';

// Headers that say nothing about how a request was read.
const USUAL = /^(?:server|date|content-type|content-length|connection|transfer-encoding|last-modified|etag|accept-ranges|keep-alive)$/i;

const NOT_CLOSED = 'and the server kept the connection';

/** Sends bytes, closes our side, and gives all that comes until the server closes, as it must. A reset ends the stream, too. */
function converse(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((done) => {
    const pieces: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.setTimeout(20_000, () => {
      pieces.push(Buffer.from(NOT_CLOSED));
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('end', () => socket.destroy());
    socket.on('close', () => done(Buffer.concat(pieces)));
    socket.end(bytes);
  });
}

/** One line for each response: its status, headers that are not the usual ones, and the body of a 200. */
function readResponses(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    try {
      const response = parseResponse(rest, 'GET', true)!;
      const headers = response.headers.filter(([name]) => !USUAL.test(name)).map(([name, value]) => ` ${quoted(`${name}: ${value}`)}`);
      const body = response.status === 200 || response.status === 0 ? ` body ${quoted(response.text)}` : '';
      lines.push(`${response.status}${headers.join('')}${body}${response.complete ? '' : ' incomplete'}`);
      rest = rest.subarray(response.length);
    } catch (error) {
      lines.push(`unreadable: ${(error as Error).message}`);
      break;
    }
  }
  return lines.length === 0 ? ['closed'] : lines;
}

/**
 * Plays a case against the server on `port`, in front of `backend`. Gives a line for each response to the client, then one for each
 * request that reached the backend; `PORT` stands for ports.
 */
export async function playCase(port: number, backend: StrictBackend, played: Pick<HostileCase, 'request' | 'response'>): Promise<string[]> {
  backend.begin(played.response);
  const responses = readResponses(await converse(port, played.request));
  await backend.settled();
  return [...responses, ...backend.report()].map((line) =>
    line
      .replaceAll(`:${port}`, ':PORT')
      .replace(/Date: [^\\]*GMT/g, 'Date: NOW')
      .replace(/(?:sluice|nginx)\/[\d.]+/g, 'NAME'),
  );
}
