import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import type { HeaderKinds } from '../upstream/response/header-kinds.js';
import { UpstreamHead } from '../upstream/response/upstream-head.js';
import {
  BLOCK,
  type DecodedHeader,
  decodeHeader,
  type EntryHeader,
  fileLength,
  headerLength,
  isBlock,
  tableChecksum,
  tableLength,
} from './file-format.js';

/** Bodies up to this size are checked in whole before anything of them is sent. */
const CHECKED = 1024 * 1024;
/** Bodies up to this size stay in memory. */
const HOT = 64 * 1024;
/** What is read of a file at first: most entries whole. */
const FIRST_READ = 16 * 1024;
/** A file that changed within so many milliseconds may change again without its times moving. */
const TICK = 40;

/** Open entries may share one head: nobody changes it. */
interface HeadOf {
  readonly kinds: HeaderKinds;
  readonly head: UpstreamHead;
}

/** One version of a cache file, as this process has read it. */
export class CacheEntry {
  readonly header: EntryHeader;
  readonly path: string;
  readonly bodyStart: number;
  readonly size: number;
  readonly tableCrc: number;
  /** The body of a small entry. Shared by all responses: never changed in place. */
  readonly body: Buffer | undefined;
  /** Checksums of the blocks of a large body. */
  readonly table: Buffer | undefined;
  readonly #ino: number;
  readonly #mtime: number;
  readonly #ctime: number;
  readonly #settled: boolean;
  #head: HeadOf | undefined = undefined;
  /** Seconds of the last use that the index knows of. */
  noted = 0;
  /** The tick in which the file was last found to be the same. */
  checkedIn = 0;
  /** The request headers that the last request varied by, and their digest. */
  varyText = '';
  varyHash = '';

  constructor(path: string, stat: Stats, decoded: DecodedHeader, body: Buffer | undefined, table: Buffer | undefined) {
    this.header = decoded.entry;
    this.path = path;
    this.bodyStart = decoded.bodyStart;
    this.size = stat.size;
    this.tableCrc = decoded.tableCrc;
    this.body = body;
    this.table = table;
    this.#ino = stat.ino;
    this.#mtime = stat.mtimeMs;
    this.#ctime = stat.ctimeMs;
    this.#settled = Date.now() - stat.ctimeMs > TICK;
  }

  /** Whether the file is still the one that was read. */
  isCurrent(stat: Stats): boolean {
    return (
      this.#settled && stat.ino === this.#ino && stat.mtimeMs === this.#mtime && stat.ctimeMs === this.#ctime && stat.size === this.size
    );
  }

  /** Whether a file that was opened again is the one that was read. */
  isFile(stat: Stats): boolean {
    return stat.ino === this.#ino && stat.size === this.size;
  }

  /** The response head, for a location's view of headers. */
  head(kinds: HeaderKinds): UpstreamHead {
    if (this.#head?.kinds !== kinds) {
      this.#head = { kinds, head: makeHead(this.header, kinds) };
    }
    return this.#head.head;
  }
}

function makeHead(header: EntryHeader, kinds: HeaderKinds): UpstreamHead {
  const head = new UpstreamHead();
  head.status = header.status;
  head.statusText = header.reason;
  head.contentLength = header.contentLength;
  for (let i = 0; i < header.lines.length; i += 2) {
    const lower = header.lines[i]!.toLowerCase();
    head.add(header.lines[i]!, lower, header.lines[i + 1]!, kinds.of(lower));
  }
  return head;
}

/** Reads and checks a cache file. undefined: there is none; a string says what is wrong with it. Other errors are thrown. */
export function readEntry(path: string, native: string | Buffer): CacheEntry | string | undefined {
  let fd: number;
  try {
    // A pipe of that name must not hold the process up.
    fd = openSync(native, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
  try {
    return readOpened(path, fd);
  } finally {
    closeSync(fd);
  }
}

function readOpened(path: string, fd: number): CacheEntry | string {
  const stat = fstatSync(fd);
  let bytes: Buffer = Buffer.allocUnsafeSlow(Math.min(stat.size, FIRST_READ));
  let have = readSync(fd, bytes, 0, bytes.length, 0);
  const length = headerLength(bytes.subarray(0, have));
  if (length > have && length <= stat.size) {
    bytes = Buffer.allocUnsafeSlow(length);
    have = readSync(fd, bytes, 0, length, 0);
  }
  const decoded = decodeHeader(bytes.subarray(0, have));
  if (typeof decoded === 'string') {
    return decoded;
  }
  const { bodyLength } = decoded.entry;
  if (fileLength(decoded) !== stat.size) {
    return 'has another length than its header says';
  }
  const tableAt = decoded.bodyStart + bodyLength;
  if (bodyLength > CHECKED) {
    const table = Buffer.allocUnsafeSlow(tableLength(bodyLength));
    readSync(fd, table, 0, table.length, tableAt);
    if (tableChecksum(table) !== decoded.tableCrc) {
      return 'has damaged checksums';
    }
    return new CacheEntry(path, stat, decoded, undefined, table);
  }
  if (have < stat.size) {
    const whole = Buffer.allocUnsafeSlow(stat.size);
    bytes.copy(whole, 0, 0, have);
    have += readSync(fd, whole, have, stat.size - have, have);
    bytes = whole;
  }
  const body = bytes.subarray(decoded.bodyStart, tableAt);
  const table = bytes.subarray(tableAt, stat.size);
  if (have < stat.size || tableChecksum(table) !== decoded.tableCrc) {
    return 'has damaged checksums';
  }
  for (let at = 0, i = 0; at < bodyLength; at += BLOCK, i++) {
    if (!isBlock(body.subarray(at, at + BLOCK), table, i)) {
      return 'has a damaged body';
    }
  }
  if (bodyLength > HOT) {
    return new CacheEntry(path, stat, decoded, undefined, Buffer.from(table));
  }
  return new CacheEntry(path, stat, decoded, body, undefined);
}
