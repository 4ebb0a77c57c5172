import type { FieldSink } from '../../http/fields/field-sink.js';
import type { HpackSectionWriter } from '../../http/http2-frames/section-writer.js';

/** Whoever has a request sent on a stream: writes its head, and is given the fields of the response. */
export interface Http2User extends FieldSink {
  /** How many streams a connection may have at a time. */
  readonly maxStreams: number;
  /** The request opens a tunnel: it waits until the backend has said whether it takes such, and does not end with its head. */
  readonly connects: boolean;
  /** How many bytes the names and values of one header section may have. */
  readonly headLimit: number;
  /** Writes the fields of the request's head. */
  writeHead(section: HpackSectionWriter): void;
  /** What the backend gets of a piece of the body; undefined: the piece. */
  encode?(piece: Buffer): Buffer;
  /** A header section begins, whose fields follow. */
  beginSection(): void;
  /** The section, or its frame, breaks the rules: {@link inputBroken} follows. */
  sectionMalformed(): void;
  /** The section has ended; `last`: nothing comes behind it. */
  endSection(last: boolean): void;
  /** The head of the response was read: another section is its trailers. */
  readonly answered: boolean;
  /** The response is complete. */
  inputEnded(): void;
  /** The backend broke the rules, or the stream off with an error `code` (else 0); `problem` says how. Nothing more comes. */
  inputBroken(problem: string, code: number): void;
}

/** The backend has not looked at a request and will not: it may go elsewhere, whatever it is. */
export class Http2Refused extends Error {}

/** The backend cannot serve such a request, though it is well otherwise. */
export class Http2Unsuited extends Error {}
