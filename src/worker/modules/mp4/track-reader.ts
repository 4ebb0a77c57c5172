import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { DECLINED, FAILED, OK } from '../../task/codes.js';
import { CO64, CTTS, DINF, HDLR, MDHD, MDIA, MINF, SMHD, STBL, STCO, STSC, STSD, STSS, STSZ, STTS, TKHD, VMHD } from './atom-names.js';
import { type AtomReader, Found } from './atom-reader.js';
import { bigU64, u32 } from './big-endian.js';
import { type Cut, scaled } from './cut.js';
import type { Table } from './tables.js';
import { NONE, type Piece, type Track } from './track.js';

/** How the reading of an atom ended; DECLINED: the film is sent without this track. */
export type ReadResult = typeof OK | typeof DECLINED | typeof FAILED;

/** Atoms that others are in, one in the other. */
const Level = { TRACK: 0, MEDIA: 1, INFORMATION: 2, TABLES: 3 } as const;
type Level = (typeof Level)[keyof typeof Level];
const NAMES = ['trak', 'mdia', 'minf', 'stbl'] as const;

/** Reads the tracks of a film, whose index the atoms' reader has taken, one after the other into the same object. */
export class TrackReader {
  readonly #r: Request;
  readonly #path: string;
  readonly #reader: AtomReader;
  readonly #cut: Cut;
  readonly #track: Track;
  /** Which atoms with others in them the track has had, by level. */
  readonly #inside: boolean[] = [false, false, false, false];
  #filmScale = 0;

  constructor(r: Request, path: string, reader: AtomReader, cut: Cut, track: Track) {
    this.#r = r;
    this.#path = path;
    this.#reader = reader;
    this.#cut = cut;
    this.#track = track;
  }

  /** Reads the track that the reader has found. `filmScale`: units of the film in a second. nginx: ngx_http_mp4_read_trak_atom. */
  read(filmScale: number): ReadResult {
    this.#track.forget();
    this.#filmScale = filmScale;
    this.#inside.fill(false);
    return this.#readInside(Level.TRACK);
  }

  /** Reads what is in the atom that was found. */
  #readInside(level: Level): ReadResult {
    if (this.#inside[level]) {
      return this.#duplicate(NAMES[level]!);
    }
    this.#inside[level] = true;
    const reader = this.#reader;
    const end = reader.offset + reader.size;
    for (;;) {
      const found = reader.next(end);
      if (found !== Found.ATOM) {
        return found === Found.END ? OK : FAILED;
      }
      const code = this.#readAtom(level, reader.name);
      if (code !== OK) {
        return code;
      }
    }
  }

  #readAtom(level: Level, name: number): ReadResult {
    switch (level) {
      case Level.TRACK:
        return name === TKHD ? this.#readHeader() : name === MDIA ? this.#readInside(Level.MEDIA) : this.#skip();
      case Level.MEDIA:
        return this.#readOfMedia(name);
      case Level.INFORMATION:
        return this.#readOfInformation(name);
      default:
        return this.#readTable(name);
    }
  }

  #skip(): ReadResult {
    this.#reader.skip();
    return OK;
  }

  #fail(message: string): ReadResult {
    this.#r.log(ERROR, message);
    return FAILED;
  }

  #tooSmall(name: string): ReadResult {
    return this.#fail(`"${this.#path}" mp4 ${name} atom too small`);
  }

  #duplicate(name: string): ReadResult {
    return this.#fail(`duplicate mp4 ${name} atom in "${this.#path}"`);
  }

  /** The data of the atom that was found, behind which the reader goes on. */
  #take(): Piece {
    const { place, size } = this.#reader;
    this.#reader.skip();
    return { at: place, size };
  }

  // nginx: ngx_http_mp4_read_tkhd_atom.
  #readHeader(): ReadResult {
    const { bytes, place, size } = this.#reader;
    if (size < 84 || (bytes[place] !== 0 && size < 96)) {
      return this.#tooSmall('tkhd');
    }
    const duration = bytes[place] === 0 ? BigInt(u32(bytes, place + 20)) : bigU64(bytes, place + 28);
    const left = this.#left(duration, this.#filmScale);
    if (left === -1n) {
      return DECLINED;
    }
    if (this.#track.header !== NONE) {
      return this.#duplicate('tkhd');
    }
    this.#track.filmDuration = left;
    this.#track.header = this.#take();
    return OK;
  }

  /** What is left of a duration, in units of which a second has so many; -1 when the start is behind it. */
  #left(duration: bigint, scale: number): bigint {
    const { start, length } = this.#cut;
    const startTime = scaled(start, scale);
    if (duration <= startTime) {
      return -1n;
    }
    return length === 0n ? duration - startTime : least(duration - startTime, scaled(length, scale));
  }

  #readOfMedia(name: number): ReadResult {
    switch (name) {
      case MDHD:
        return this.#readMediaHeader();
      case HDLR:
        if (this.#track.handler !== NONE) {
          return this.#duplicate('hdlr');
        }
        this.#track.handler = this.#take();
        return OK;
      case MINF:
        return this.#readInside(Level.INFORMATION);
      default:
        return this.#skip();
    }
  }

  // nginx: ngx_http_mp4_read_mdhd_atom.
  #readMediaHeader(): ReadResult {
    const { bytes, place, size } = this.#reader;
    if (size < 24 || (bytes[place] !== 0 && size < 36)) {
      return this.#tooSmall('mdhd');
    }
    const narrow = bytes[place] === 0;
    const timescale = u32(bytes, place + (narrow ? 12 : 20));
    const left = this.#left(narrow ? BigInt(u32(bytes, place + 16)) : bigU64(bytes, place + 24), timescale);
    if (left === -1n) {
      return DECLINED;
    }
    if (this.#track.mediaHeader !== NONE) {
      return this.#duplicate('mdhd');
    }
    this.#track.timescale = timescale;
    this.#track.duration = left;
    this.#track.mediaHeader = this.#take();
    return OK;
  }

  #readOfInformation(name: number): ReadResult {
    switch (name) {
      case VMHD:
      case SMHD:
        if (this.#track.kindHeader !== NONE) {
          return this.#duplicate('vmhd/smhd');
        }
        this.#track.kind = name;
        this.#track.kindHeader = this.#take();
        return OK;
      case DINF:
        if (this.#track.dataInformation !== NONE) {
          return this.#duplicate('dinf');
        }
        this.#track.dataInformation = this.#take();
        return OK;
      case STBL:
        return this.#readInside(Level.TABLES);
      default:
        return this.#skip();
    }
  }

  #readTable(name: number): ReadResult {
    switch (name) {
      case STSD:
        if (this.#reader.size < 16) {
          return this.#tooSmall('stsd');
        }
        if (this.#track.descriptions !== NONE) {
          return this.#duplicate('stsd');
        }
        this.#track.descriptions = this.#take();
        return OK;
      case STTS:
        return this.#readEntries('stts', this.#track.times);
      case STSS:
        return this.#readEntries('stss', this.#track.keyFrames);
      case CTTS:
        return this.#readEntries('ctts', this.#track.offsets);
      case STSC:
        return this.#readEntries('stsc', this.#track.chunks);
      case STSZ:
        return this.#readSizes();
      case STCO:
        return this.#readPlaces('stco', false);
      case CO64:
        return this.#readPlaces('co64', true);
      default:
        return this.#skip();
    }
  }

  #readEntries(name: string, table: Table): ReadResult {
    const { bytes, place, size } = this.#reader;
    if (size < 8) {
      return this.#tooSmall(name);
    }
    const entries = u32(bytes, place + 4);
    // Of two tables of key frames or offsets, nginx says that there are two before it looks whether the second is whole.
    const second = table.data !== -1;
    if (second && (table === this.#track.keyFrames || table === this.#track.offsets)) {
      return this.#duplicate(name);
    }
    if (8 + entries * table.width > size) {
      return this.#tooSmall(name);
    }
    if (second) {
      return this.#duplicate(name);
    }
    table.found(place, place + 8, entries);
    return this.#skip();
  }

  // nginx: ngx_http_mp4_read_stsz_atom.
  #readSizes(): ReadResult {
    const { bytes, place, size } = this.#reader;
    if (size < 12) {
      return this.#tooSmall('stsz');
    }
    const uniform = u32(bytes, place + 4);
    const entries = u32(bytes, place + 8);
    if (this.#track.sizes.data !== -1) {
      return this.#duplicate('stsz');
    }
    if (uniform === 0 && 12 + entries * 4 > size) {
      return this.#tooSmall('stsz');
    }
    this.#track.uniformSize = uniform;
    this.#track.sizes.found(place, place + 12, entries);
    return this.#skip();
  }

  #readPlaces(name: string, wide: boolean): ReadResult {
    const { bytes, place, size } = this.#reader;
    if (size < 8) {
      return this.#tooSmall(name);
    }
    const entries = u32(bytes, place + 4);
    if (8 + entries * (wide ? 8 : 4) > size) {
      return this.#tooSmall(name);
    }
    if (this.#track.places.data !== -1) {
      return this.#duplicate('stco/co64');
    }
    this.#track.usePlaces(wide).found(place, place + 8, entries);
    return this.#skip();
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
