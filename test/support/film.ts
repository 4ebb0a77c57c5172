/** One number after the other, each in 32 bits. */
export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => void bytes.writeUInt32BE(value >>> 0, 4 * i));
  return bytes;
}

/** A number in 64 bits. */
export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** An atom with some parts in it. */
export function atom(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const data = Buffer.concat(parts);
  return Buffer.concat([u32(8 + data.length), Buffer.from(name, 'latin1'), data]);
}

/** An atom whose size has 64 bits. */
export function longAtom(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const data = Buffer.concat(parts);
  return Buffer.concat([u32(1), Buffer.from(name, 'latin1'), u64(16 + data.length), data]);
}

/** What the index of a film says of one track. */
export interface TrackParts {
  /** Units in a second, and the track's time in them. */
  readonly timescale: number;
  readonly duration: number;
  /** The track's time in units of the film. */
  readonly filmDuration: number;
  readonly kind?: 'vmhd' | 'smhd';
  /** 1: times of the headers have 64 bits. */
  readonly version?: 0 | 1;
  /** Runs of samples: their number, and how long each of them lasts. */
  readonly times: readonly (readonly [count: number, duration: number])[];
  /** Key frames, counted from 1 on. */
  readonly keyFrames?: readonly number[];
  /** Runs of samples: their number, and how much later than decoded each of them is shown. */
  readonly offsets?: readonly (readonly [count: number, offset: number])[];
  /** From a chunk on, so many samples in each, with such a description. */
  readonly chunks: readonly (readonly [chunk: number, samples: number, description: number])[];
  /** Bytes of the samples, or of each of so many. */
  readonly sizes: readonly number[] | { readonly each: number; readonly count: number };
  /** Where the chunks are in the samples of the film. */
  readonly places: readonly number[];
  /** Places have 64 bits. */
  readonly wide?: boolean;
  /** An edit list that hides the beginning: the time that is shown, in units of the film, and where in the track it begins. */
  readonly edit?: { readonly duration: number; readonly from: number };
  /** Atoms that players do not need. */
  readonly extras?: boolean;
}

/** What a film is made of. */
export interface FilmParts {
  readonly timescale: number;
  readonly duration: number;
  readonly version?: 0 | 1;
  readonly tracks: readonly TrackParts[];
  /** All samples, as they are in the file. */
  readonly samples: Buffer;
}

const text = (length: number, seed: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (seed + i * 7) % 251));

/** Version, flags, and the times of a header up to its duration; what is between depends on the header. */
function times(version: 0 | 1, between: Buffer, duration: number): Buffer {
  const stamp = version === 0 ? u32(1_000_001, 1_000_002) : Buffer.concat([u64(1_000_001), u64(1_000_002)]);
  return Buffer.concat([u32(version << 24), stamp, between, version === 0 ? u32(duration) : u64(duration)]);
}

const table = (name: string, rows: readonly (readonly number[])[]): Buffer =>
  atom(name, u32(0, rows.length), ...rows.map((row) => u32(...row)));

function track(parts: TrackParts, shift: number): Buffer {
  const version = parts.version ?? 0;
  const sizes = 'each' in parts.sizes ? u32(0, parts.sizes.each, parts.sizes.count) : u32(0, 0, parts.sizes.length, ...parts.sizes);
  const places = parts.places.map((place) => place + shift);
  const extras = parts.extras ? [atom('free', text(5, 1))] : [];
  return atom(
    'trak',
    atom('tkhd', times(version, u32(1, 0), parts.filmDuration), text(60, 2)),
    ...(parts.edit === undefined
      ? []
      : [atom('edts', atom('elst', u32(1 << 24, 1), u64(parts.edit.duration), u64(parts.edit.from), u32(1 << 16)))]),
    ...extras,
    atom(
      'mdia',
      atom('mdhd', times(version, u32(parts.timescale), parts.duration), text(4, 3)),
      atom('hdlr', text(25, 4)),
      ...extras,
      atom(
        'minf',
        ...(parts.kind === undefined ? [] : [atom(parts.kind, text(8, 5))]),
        atom('dinf', text(12, 6)),
        atom(
          'stbl',
          atom('stsd', u32(0, 1), text(30, 7)),
          table('stts', parts.times),
          ...(parts.keyFrames === undefined
            ? []
            : [
                table(
                  'stss',
                  parts.keyFrames.map((sample) => [sample]),
                ),
              ]),
          ...(parts.offsets === undefined ? [] : [table('ctts', parts.offsets)]),
          table('stsc', parts.chunks),
          atom('stsz', sizes),
          parts.wide
            ? atom('co64', u32(0, places.length), ...places.map((place) => u64(place)))
            : table(
                'stco',
                places.map((place) => [place]),
              ),
          ...extras,
        ),
      ),
    ),
  );
}

/** The index of a film, whose samples begin at `shift` in the file. */
export function index(film: FilmParts, shift: number): Buffer {
  const header = atom('mvhd', times(film.version ?? 0, u32(film.timescale), film.duration), text(80, 8));
  return atom('moov', header, ...film.tracks.map((parts) => track(parts, shift)));
}

/** What a film's file begins with. */
export const fileType = (): Buffer => atom('ftyp', Buffer.from('isom\0\0\0\x01isomavc1', 'latin1'));

/** A film's file with the index in front, as it comes from a server that has cut it. */
export function filmFile(film: FilmParts): Buffer {
  const type = fileType();
  const shift = type.length + index(film, 0).length + 8;
  return Buffer.concat([type, index(film, shift), atom('mdat', film.samples)]);
}

/** A film's file with the index at the end. */
export function filmFileIndexLast(film: FilmParts): Buffer {
  const type = fileType();
  return Buffer.concat([type, atom('mdat', film.samples), index(film, type.length + 8)]);
}
