import { gzipSync } from 'node:zlib';

/**
 * A piece of configuration with a name: what it puts in which block of the case. In its texts %%CASE%% is the case's name, %%GROUP%% its
 * `upstream` and %%BACKEND%% the address of its backend; %%DIR%% is the server's prefix. %%HTTP%% and %%DOOR%% are where the case's server
 * of `http` listens, the latter behind the PROXY protocol.
 */
export interface Part {
  readonly name: string;
  /** nginx does not have it. */
  readonly ours?: true;
  readonly http?: string;
  readonly server?: string;
  readonly location?: string;
  /** In `stream`, and in the case's server there: such a case is played to that server. */
  readonly stream?: string;
  readonly session?: string;
}

export type Field = readonly [name: string, value: string];

/** Bytes as a text that is repeated, packed by gzip if `gzip` says so. */
export interface Content {
  readonly text: string;
  readonly times?: number;
  readonly gzip?: true;
}

/** How a request's body says where it ends, or fails to. */
export type RequestFraming = 'length' | 'chunked' | 'bad-chunk' | 'bad-chunk-later' | 'chunk-trailers' | 'short';

/** A request that a client sends. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Host is not among them: it names the case. */
  readonly fields: readonly Field[];
  readonly body?: Content & { readonly framing: RequestFraming };
}

/** What a client does on one connection. */
export interface Client {
  readonly requests: readonly Request[];
  /** All requests are sent at once. */
  readonly pipelined?: true;
  /** It does not read at first. */
  readonly slow?: true;
  /** It sends bodies only once it is told to go on. */
  readonly waits?: true;
  /** It sends each request to `stream` in a datagram, or shakes hands with whoever is behind it. */
  readonly through?: 'udp' | 'tls';
  /** Over TLS it says this of itself, to a server that asks. */
  readonly certificate?: 'client' | 'other' | 'revoked';
  /** Over TLS it wants the case's own server, by name. */
  readonly named?: true;
  /** Over HTTP/2 it gives up the last request after so many bytes of its body, and keeps the connection. */
  readonly cancel?: { readonly after: number };
  /** It leaves after so many bytes that it sent, or after so many that it received. */
  readonly leave?: { readonly after: number; readonly of: 'sent' | 'received'; readonly how: 'half' | 'close' | 'reset' };
}

/** How a backend's response says where it ends, or fails to. */
export type AnswerFraming = 'length' | 'chunked' | 'close' | 'short' | 'long' | 'bad-chunk' | 'trailers';

/** What the case's backend answers. */
export interface Answer {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Content;
  readonly framing: AnswerFraming;
  /** Heads of responses before it. */
  readonly interim?: readonly string[];
  /** It answers requests for a range of its body with that. */
  readonly ranges?: true;
  /** What is said in its place from the second request on that is not beside another. */
  readonly later?: Pick<Answer, 'status' | 'body'>;
  /** It leaves after so many bytes. */
  readonly leave?: { readonly after: number; readonly how: 'close' | 'reset' };
  /** Each of its first bytes is a piece of its own. */
  readonly bytewise?: true;
  /** What it answers to the first bytes of TLS in the place of its own. */
  readonly handshake?: 'plain' | 'closes' | 'resets';
  /** These bytes in the place of all else. */
  readonly raw?: string;
}

/** One configuration and what meets it. */
export interface Case {
  readonly parts: readonly Part[];
  readonly client: Client;
  readonly answer: Answer;
}

/** A case that was found to be different, as `--case` reads it. */
export interface SavedCase extends Case {
  readonly axis: string;
  readonly differences: readonly string[];
}

/** Whether a case is played to a server of `stream`. */
export const isStream = ({ parts }: Pick<Case, 'parts'>): boolean => parts.some(({ session }) => session !== undefined);

/** Whether a server of `http` is behind that of `stream`. */
export const isFront = (one: Pick<Case, 'parts'>): boolean => opens(one, /%%(HTTP|DOOR)%%/);

const opens = ({ parts }: Pick<Case, 'parts'>, text: RegExp): boolean => parts.some(({ session }) => text.test(session ?? ''));

/** The bytes of a content. */
export function bytesOf({ text, times = 1, gzip }: Content): Buffer {
  const bytes = Buffer.from(text.repeat(times), 'latin1');
  return gzip ? gzipSync(bytes, { level: 1 }) : bytes;
}
