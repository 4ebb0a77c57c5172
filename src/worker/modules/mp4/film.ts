import { EMPTY } from '../../bytes/empty.js';
import type { FileInfo } from '../../files/file-info.js';
import type { Request } from '../../http/request/request.js';
import { DECLINED, FAILED, OK } from '../../task/codes.js';
import { CMOV, FTYP, MDAT, MOOV, MVHD, TRAK } from './atom-names.js';
import { AtomReader, Found } from './atom-reader.js';
import { bigU64, putU32, putU64, u32 } from './big-endian.js';
import { cutPlaces, movePlaces } from './chunk-places.js';
import { type Cut, scaled } from './cut.js';
import { Output } from './output.js';
import { cutChunks } from './sample-chunks.js';
import { cutKeyFrames, cutOffsets, cutSizes } from './sample-tables.js';
import { cutTimes } from './sample-times.js';
import type { Mp4Settings } from './settings.js';
import type { Span } from './times.js';
import { Track } from './track.js';
import { putDuration, writeTrack } from './track-output.js';
import { type ReadResult, TrackReader } from './track-reader.js';

const HEAD = 8;
const LONG_HEAD = 16;
const MOST_FTYP = 1024;
/** A larger index than Node has one piece of memory for. */
const MOST_INDEX = 2 ** 31 - 1;
/** Films have few outermost atoms before their samples and their index. nginx reads on. */
const MOST_ATOMS = 65_536;
/** Films have few tracks, too. nginx has a few kilobytes of memory for each. */
const MOST_TRACKS = 1024;
const MOST_U32 = 2 ** 32 - 1;

/**
 * A film that is cut: the index is made anew, in front of the part of the samples that is left. The atoms of the file are read in their
 * order, and a track is written as soon as it was read, so that memory grows with the index alone. nginx: ngx_http_mp4_process.
 */
export class Film {
  readonly #r: Request;
  readonly #path: string;
  readonly #reader: AtomReader;
  readonly #cut: Cut;
  readonly #maxIndex: number;
  #type: Buffer | null = null;
  #header: Buffer | null = null;
  #hasIndex = false;
  /** Place in the file behind the samples; -1 as long as none were found. */
  #samplesEnd = -1;
  /** Units of the film in a second. */
  #timescale = 0;
  readonly #out = new Output();
  /** Of each track with chunks left: where their places are in the output, how many, and 1 if they have 64 bits. */
  readonly #places: number[] = [];
  #tracks = 0;
  /** Tracks that the file has, with those that are not sent. */
  #allTracks = 0;
  #startOffset: number;
  #endOffset = 0;
  /** What was wrong with a track first: told once it is known that nothing is wrong with the atoms behind it. */
  #wrong = '';

  /** What comes before the samples, once {@link read} said OK, and from where to where in the file these are. */
  head: Buffer | null = null;
  get start(): number {
    return this.#startOffset;
  }
  get end(): number {
    return this.#endOffset;
  }

  constructor(r: Request, path: string, info: FileInfo, span: Span, settings: Mp4Settings) {
    this.#r = r;
    this.#path = path;
    this.#reader = new AtomReader(r, path, info, settings.bufferSize);
    this.#cut = { start: span.start, length: span.length, fileSize: info.size, startKeyFrame: settings.startKeyFrame };
    this.#maxIndex = settings.maxBufferSize;
    this.#startOffset = info.size;
  }

  /** Reads and cuts the film. DECLINED: the file is what was asked for. FAILED: the log was told why that cannot be done. */
  read(): ReadResult {
    const reader = this.#reader;
    for (let i = 0; i < MOST_ATOMS; i++) {
      const found = reader.next(reader.end);
      if (found !== Found.ATOM) {
        return found === Found.END ? this.#finish() : FAILED;
      }
      const code = this.#readAtom(reader.name);
      if (code !== OK) {
        return code;
      }
    }
    return this.#fail(`"${this.#path}" mp4 file has too many atoms`);
  }

  #fail(message: string): typeof FAILED {
    this.#reader.fail(message);
    return FAILED;
  }

  #readAtom(name: number): ReadResult {
    switch (name) {
      case FTYP:
        return this.#readType();
      case MOOV:
        return this.#readIndex();
      case MDAT:
        return this.#readSamples();
      default:
        this.#reader.skip();
        return OK;
    }
  }

  // nginx: ngx_http_mp4_read_ftyp_atom.
  #readType(): ReadResult {
    const reader = this.#reader;
    const { size } = reader;
    if (size > MOST_FTYP || !reader.inWindow) {
      return this.#fail(`"${this.#path}" mp4 ftyp atom is too large:${size}`);
    }
    if (this.#type !== null) {
      return this.#fail(`duplicate mp4 ftyp atom in "${this.#path}"`);
    }
    if (!reader.hold()) {
      return FAILED;
    }
    this.#type = this.#copyAtom(FTYP);
    reader.skip();
    return OK;
  }

  /** A copy of the atom that was found, with a head of eight bytes. */
  #copyAtom(name: number): Buffer {
    const { bytes, place, size } = this.#reader;
    const atom = Buffer.alloc(HEAD + size);
    putU32(atom, 0, HEAD + size);
    putU32(atom, 4, name);
    bytes.copy(atom, HEAD, place, place + size);
    return atom;
  }

  // nginx: ngx_http_mp4_read_mdat_atom.
  #readSamples(): ReadResult {
    const reader = this.#reader;
    if (this.#samplesEnd !== -1) {
      return this.#fail(`duplicate mp4 mdat atom in "${this.#path}"`);
    }
    this.#samplesEnd = reader.offset + reader.size;
    if (this.#tracks > 0) {
      reader.offset = reader.end;
    } else {
      reader.skip();
    }
    return OK;
  }

  // nginx: ngx_http_mp4_read_moov_atom.
  #readIndex(): ReadResult {
    const reader = this.#reader;
    const first = this.#samplesEnd === -1;
    if (first && this.#cut.start === 0n && this.#cut.length === 0n) {
      return DECLINED;
    }
    if (this.#hasIndex) {
      return this.#fail(`duplicate mp4 moov atom in "${this.#path}"`);
    }
    const { size } = reader;
    if ((reader.exceedsWindow && size > this.#maxIndex) || size > MOST_INDEX) {
      return this.#fail(`"${this.#path}" mp4 moov atom is too large:${size}, you may want to increase mp4_max_buffer_size`);
    }
    if (!reader.take(first)) {
      return FAILED;
    }
    this.#hasIndex = true;
    const code = this.#readInIndex(reader.offset + size);
    reader.taken(first);
    return code;
  }

  #readInIndex(end: number): ReadResult {
    const reader = this.#reader;
    const track = new Track(reader.bytes);
    const tracks = new TrackReader(this.#r, this.#path, reader, this.#cut, track);
    for (;;) {
      const found = reader.next(end);
      if (found !== Found.ATOM) {
        return found === Found.END ? OK : FAILED;
      }
      switch (reader.name) {
        case MVHD:
          if (!this.#readHeader()) {
            return FAILED;
          }
          break;
        case TRAK:
          if (!this.#readTrack(track, tracks)) {
            return FAILED;
          }
          break;
        case CMOV:
          return this.#fail(`"${this.#path}" mp4 compressed moov atom (cmov) is not supported`);
        default:
          reader.skip();
      }
    }
  }

  // nginx: ngx_http_mp4_read_mvhd_atom.
  #readHeader(): boolean {
    const reader = this.#reader;
    const { bytes, place, size } = reader;
    if (this.#header !== null) {
      this.#fail(`duplicate mp4 mvhd atom in "${this.#path}"`);
      return false;
    }
    if (size < 100 || (bytes[place] !== 0 && size < 112)) {
      this.#fail(`"${this.#path}" mp4 mvhd atom too small`);
      return false;
    }
    const narrow = bytes[place] === 0;
    this.#timescale = u32(bytes, place + (narrow ? 12 : 20));
    let duration = narrow ? BigInt(u32(bytes, place + 16)) : bigU64(bytes, place + 24);
    const start = scaled(this.#cut.start, this.#timescale);
    if (duration < start) {
      this.#fail(`"${this.#path}" mp4 start time exceeds file duration`);
      return false;
    }
    duration -= start;
    if (this.#cut.length !== 0n) {
      const length = scaled(this.#cut.length, this.#timescale);
      duration = duration > length ? length : duration;
    }
    this.#header = this.#copyAtom(MVHD);
    putDuration(this.#header, HEAD, 16, 24, duration);
    reader.skip();
    return true;
  }

  #readTrack(track: Track, tracks: TrackReader): boolean {
    const reader = this.#reader;
    if (++this.#allTracks > MOST_TRACKS) {
      this.#fail(`"${this.#path}" mp4 file has too many tracks`);
      return false;
    }
    const end = reader.offset + reader.size;
    const code = tracks.read(this.#timescale);
    if (code === FAILED) {
      return false;
    }
    if (code === DECLINED) {
      reader.offset = end;
      return true;
    }
    this.#tracks++;
    if (this.#wrong === '') {
      this.#wrong = this.#cutTrack(track) ?? '';
    }
    return true;
  }

  /** Returns what is wrong. */
  #cutTrack(track: Track): string | undefined {
    const cut = this.#cut;
    let wrong = cutTimes(track, cut);
    if (wrong === undefined) {
      cutKeyFrames(track, cut);
      cutOffsets(track, cut);
      wrong = cutChunks(track, cut) ?? cutSizes(track, cut) ?? cutPlaces(track, cut);
    }
    if (wrong !== undefined) {
      return wrong;
    }
    this.#startOffset = Math.min(this.#startOffset, track.startOffset);
    this.#endOffset = Math.max(this.#endOffset, track.endOffset);
    const at = writeTrack(track, this.#out);
    if (track.places.left > 0) {
      this.#places.push(at, track.places.left, track.wide ? 1 : 0);
    }
    return undefined;
  }

  /** Puts the index together once all atoms were read. nginx: the second part of ngx_http_mp4_process. */
  #finish(): ReadResult {
    if (this.#tracks === 0) {
      return this.#fail(`no mp4 trak atoms were found in "${this.#path}"`);
    }
    if (this.#samplesEnd === -1) {
      return this.#fail(`no mp4 mdat atom was found in "${this.#path}"`);
    }
    if (this.#wrong !== '') {
      return this.#fail(`${this.#wrong} in "${this.#path}"`);
    }
    if (this.#cut.length === 0n) {
      this.#endOffset = this.#samplesEnd;
    }
    const size = this.#endOffset - this.#startOffset;
    if (size <= 0) {
      return this.#fail(`no data between start time and end time in "${this.#path}"`);
    }
    if (this.#startOffset >= this.#samplesEnd) {
      return this.#fail(`start time is out mp4 mdat atom in "${this.#path}"`);
    }
    this.#assemble(size);
    return OK;
  }

  /** `size`: bytes of samples. */
  #assemble(size: number): void {
    const out = this.#out;
    const type = this.#type ?? EMPTY;
    const header = this.#header ?? EMPTY;
    const index = HEAD + header.length + out.length;
    const long = size > MOST_U32 - HEAD;
    const by = type.length + index + (long ? LONG_HEAD : HEAD) - this.#startOffset;
    for (let i = 0; i < this.#places.length; i += 3) {
      movePlaces(out.bytes, this.#places[i]!, this.#places[i + 1]!, this.#places[i + 2] === 1, by);
    }
    out.head(MDAT, long ? 1 : HEAD + size);
    if (long) {
      const at = out.room(8);
      putU64(out.bytes, at, LONG_HEAD + size);
    }
    const indexHead = Buffer.alloc(HEAD);
    putU32(indexHead, 0, index);
    putU32(indexHead, 4, MOOV);
    this.head = out.behind(Buffer.concat([type, indexHead, header]));
  }
}
