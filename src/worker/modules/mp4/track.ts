import { ChunkTable } from './chunk-table.js';
import { Runs, Table } from './tables.js';

/** The data of an atom that is sent as it is, or nearly so; `at` is -1 where there is none. */
export interface Piece {
  at: number;
  size: number;
}

export const NONE: Piece = { at: -1, size: 0 };

/**
 * What is known of one track of a film: where its atoms are in the bytes of the index, and once it is cut, which of its samples and chunks
 * are left. One object serves all tracks of a film, one after the other. nginx: ngx_http_mp4_trak_t.
 */
export class Track {
  header: Piece = NONE;
  mediaHeader: Piece = NONE;
  handler: Piece = NONE;
  /** The header for pictures or for sound, and its name. */
  kindHeader: Piece = NONE;
  kind = 0;
  dataInformation: Piece = NONE;
  descriptions: Piece = NONE;
  /**
   * Tables: how long samples last, which are key frames, when they are shown, in which chunks they are, how long they are, where chunks
   * are.
   */
  readonly times: Runs;
  readonly keyFrames: Table;
  readonly offsets: Runs;
  readonly chunks: ChunkTable;
  readonly sizes: Table;
  places: Table;
  /** Places have 64 bits. */
  wide = false;
  readonly #narrowPlaces: Table;
  readonly #widePlaces: Table;
  /** Bytes of each sample; 0: the table says so. */
  uniformSize = 0;
  /** Units of the track in a second. */
  timescale = 0;
  /** What is left of the track's time, in its own units and in those of the film. */
  duration = 0n;
  filmDuration = 0n;
  /** Time before the start, in the track's units, that is sent for the sake of a key frame. */
  prefix = 0;
  /** The samples and chunks that are left, counted from 0 on. */
  startSample = 0;
  endSample = 0;
  startChunk = 0;
  endChunk = 0;
  /** Samples that are cut from the first chunk, and are left of the last one, and their bytes. */
  startChunkSamples = 0;
  endChunkSamples = 0;
  startChunkSize = 0;
  endChunkSize = 0;
  /** From where to where in the file what is left is. */
  startOffset = 0;
  endOffset = 0;

  /** For the tracks of an index, which is in `bytes`. */
  constructor(bytes: Buffer) {
    this.times = new Runs(bytes);
    this.keyFrames = new Table(bytes, 4);
    this.offsets = new Runs(bytes);
    this.chunks = new ChunkTable(bytes);
    this.sizes = new Table(bytes, 4);
    this.#narrowPlaces = new Table(bytes, 4);
    this.#widePlaces = new Table(bytes, 8);
    this.places = this.#narrowPlaces;
  }

  /** Chunks that the track has. */
  get chunkCount(): number {
    return this.places.entries;
  }

  /** Has the table of places with numbers of 32 or 64 bits used. */
  usePlaces(wide: boolean): Table {
    this.wide = wide;
    this.places = wide ? this.#widePlaces : this.#narrowPlaces;
    return this.places;
  }

  /** Makes the object that of another track. */
  forget(): void {
    this.header = NONE;
    this.mediaHeader = NONE;
    this.handler = NONE;
    this.kindHeader = NONE;
    this.dataInformation = NONE;
    this.descriptions = NONE;
    this.times.forget();
    this.keyFrames.forget();
    this.offsets.forget();
    this.chunks.forget();
    this.sizes.forget();
    this.places.forget();
    this.usePlaces(false);
    this.uniformSize = 0;
    this.timescale = 0;
    this.duration = 0n;
    this.filmDuration = 0n;
    this.prefix = 0;
    this.startSample = 0;
    this.endSample = 0;
    this.startChunk = 0;
    this.endChunk = 0;
    this.startChunkSamples = 0;
    this.endChunkSamples = 0;
    this.startChunkSize = 0;
    this.endChunkSize = 0;
    this.startOffset = 0;
    this.endOffset = 0;
  }
}
