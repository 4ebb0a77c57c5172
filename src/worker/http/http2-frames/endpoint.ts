import type { Http2FrameReader } from './frame-reader.js';
import type { HeaderBlock } from './header-block.js';
import type { Output } from './output.js';
import { ERROR_CODE } from './protocol.js';

/** One end of a connection, as far as both are alike: ours is a server's for a client, a client's for a backend (RFC 9113, 2.2). */
export interface Http2Endpoint {
  readonly frames: Http2FrameReader;
  readonly block: HeaderBlock;
  readonly output: Output;
  /** How many bytes of one header section, as they come, are kept. */
  readonly longestSection: number;
  /** How much the other end takes of each stream at first. */
  readonly initialWindow: number;
  /** Gives the connection up, with all of its streams. `problem`: what the log says. */
  fail(code: number, problem: string): void;
}

/** How a role says what the other end did wrong: as nginx says it. */
export interface Faults {
  /** A frame of this name is not as long as it must be. */
  length(name: string, length: number): string;
  /** A frame of this name has a stream where it must have none, or has none. */
  identifier(name: string, streamId: number): string;
  /** The padding of a DATA frame does not fit into it. */
  paddedData(length: number, padding: number): string;
  /** The padding of a HEADERS frame does not fit into it. */
  paddedHeaders(length: number, padding: number): string;
  /** A HEADERS frame has no block; undefined where it may be so. */
  readonly emptyBlock: string | undefined;
  /** A frame of this type came between the frames of a header section. */
  withinSection(type: number): string;
  /** A CONTINUATION frame belongs to no header section. */
  readonly strayContinuation: string;
  /** A CONTINUATION frame is of another stream than its header section. */
  readonly otherContinuation: string;
  readonly manyContinuations: string;
  readonly largeSection: string;
  /** A SETTINGS frame that acknowledges has values. */
  acknowledgement(length: number): string;
  /** A WINDOW_UPDATE frame makes no room. */
  readonly noRoom: string;
}

/**
 * What an end does with frames whose form was found right. A function that has to say whether the connection lives returns false when it
 * gave it up.
 */
export interface Http2Role<E extends Http2Endpoint> {
  readonly faults: Faults;
  /** Counts a frame that brings nothing by itself. `what`: its name. */
  control(e: E, what: string): boolean;
  dataHead(e: E): void;
  data(e: E): void;
  /** A HEADERS frame is not whole yet. */
  headersPart(e: E): void;
  /** Begins a header section in the endpoint's block. `dependency`: where its stream's stands in the frame; -1: it has none. */
  beginSection(e: E, dependency: number): boolean;
  /** Counts a CONTINUATION frame; false if it is one too many. */
  continued(e: E): boolean;
  /** A header section is whole: it stands from `start` to `end`. */
  section(e: E, bytes: Buffer, start: number, end: number): void;
  priority(e: E): void;
  priorityUpdate(e: E): void;
  rstStream(e: E): void;
  pushPromise(e: E): void;
  ping(e: E): void;
  goaway(e: E): void;
  /** The other end makes room for all streams together. */
  roomForAll(e: E, room: number): void;
  /** The other end makes room for the frame's stream. */
  roomForStream(e: E, room: number): void;
  /** The other end has heard what this one takes. */
  settingsHeard(e: E): void;
  /** Counts a SETTINGS frame, which is to be answered. */
  maySet(e: E): boolean;
  setting(e: E, id: number, value: number): boolean;
  /** Streams may have `window` bytes at first from now on, those that are open, too. */
  changeWindows(e: E, window: number): boolean;
  /** A SETTINGS frame was taken, and its answer made. */
  settingsTaken(e: E): void;
  /** A frame other than DATA is longer than this end takes. */
  tooLong(e: E): void;
  /** A frame has a type that nobody knows. */
  unknown(e: E): void;
}

/** Whether the frame at hand has a stream, as it must, or has none; otherwise the connection is given up. */
export function hasStream(faults: Faults, e: Http2Endpoint, name: string, must: boolean): boolean {
  const { streamId } = e.frames;
  if ((streamId !== 0) === must) {
    return true;
  }
  e.fail(ERROR_CODE.PROTOCOL_ERROR, faults.identifier(name, streamId));
  return false;
}

/** Whether the frame at hand is as long as it must be; otherwise the connection is given up. */
export function sized(faults: Faults, e: Http2Endpoint, name: string, length: number): boolean {
  if (e.frames.length === length) {
    return true;
  }
  e.fail(ERROR_CODE.FRAME_SIZE_ERROR, faults.length(name, e.frames.length));
  return false;
}
