import {
  CO64,
  CTTS,
  DINF,
  EDTS,
  ELST,
  HDLR,
  MDHD,
  MDIA,
  MINF,
  STBL,
  STCO,
  STSC,
  STSD,
  STSS,
  STSZ,
  STTS,
  TKHD,
  TRAK,
} from './atom-names.js';
import { putBigU64, putU32, putU64 } from './big-endian.js';
import { writePlaces } from './chunk-places.js';
import type { Output } from './output.js';
import { TABLE_HEAD } from './tables.js';
import type { Piece, Track } from './track.js';

const HEAD = 8;
/** Bytes of an edit list with one entry, and of the atom around it. */
const EDIT_LIST = 36;
const EDITS = HEAD + EDIT_LIST;
/** Bytes of a table of sizes without entries. */
const SIZES_HEAD = 20;

const sizeOf = ({ at, size }: Piece): number => (at === -1 ? 0 : HEAD + size);

/**
 * Writes what is left of a track, its atoms in nginx's order. Returns where in the output the places of its chunks are. nginx:
 * ngx_http_mp4_process, ngx_http_mp4_update_trak_atom and the like.
 */
export function writeTrack(track: Track, out: Output): number {
  const tables = HEAD + tablesSize(track);
  const information = HEAD + sizeOf(track.kindHeader) + sizeOf(track.dataInformation) + tables;
  const media = HEAD + sizeOf(track.mediaHeader) + sizeOf(track.handler) + information;
  out.head(TRAK, HEAD + sizeOf(track.header) + (track.prefix === 0 ? 0 : EDITS) + media);
  writeHeader(track, out, TKHD, track.header, 20, 28, track.filmDuration);
  if (track.prefix !== 0) {
    writeEdits(track, out);
  }
  out.head(MDIA, media);
  writeHeader(track, out, MDHD, track.mediaHeader, 16, 24, track.duration);
  writePiece(track, out, HDLR, track.handler);
  out.head(MINF, information);
  writePiece(track, out, track.kind, track.kindHeader);
  writePiece(track, out, DINF, track.dataInformation);
  out.head(STBL, tables);
  return writeTables(track, out);
}

function tablesSize(track: Track): number {
  const { times, keyFrames, offsets, chunks, sizes, places } = track;
  return (
    sizeOf(track.descriptions) +
    (TABLE_HEAD + times.left * times.width) +
    (keyFrames.data === -1 ? 0 : TABLE_HEAD + keyFrames.left * keyFrames.width) +
    (offsets.left === 0 ? 0 : TABLE_HEAD + offsets.left * offsets.width) +
    (TABLE_HEAD + chunks.count * chunks.width) +
    (sizes.data === -1 ? 0 : SIZES_HEAD + (track.uniformSize === 0 ? sizes.left * sizes.width : 0)) +
    (TABLE_HEAD + places.left * places.width)
  );
}

function writeTables(track: Track, out: Output): number {
  const { offsets, keyFrames } = track;
  writePiece(track, out, STSD, track.descriptions);
  track.times.write(out, STTS);
  if (keyFrames.data !== -1) {
    keyFrames.writeHead(out, STSS, keyFrames.left);
    for (let i = keyFrames.from; i < keyFrames.to; i++) {
      out.u32(keyFrames.value(i, 0) - track.startSample);
    }
  }
  if (offsets.left > 0) {
    offsets.write(out, CTTS);
  }
  track.chunks.write(out, STSC, track.startChunk, track.endChunk);
  writeSizes(track, out);
  return writePlaces(track, out, track.wide ? CO64 : STCO);
}

/** A table of one size for all samples goes on saying how many the file has, as nginx's does. */
function writeSizes({ sizes, uniformSize }: Track, out: Output): void {
  if (sizes.data === -1) {
    return;
  }
  const entries = uniformSize === 0 ? sizes.left : 0;
  out.head(STSZ, SIZES_HEAD + entries * sizes.width);
  out.copy(sizes.bytes, sizes.data, sizes.data + 8);
  out.u32(uniformSize === 0 ? entries : sizes.entries);
  if (entries > 0) {
    sizes.writeEntries(out);
  }
}

function writePiece(track: Track, out: Output, name: number, { at, size }: Piece): void {
  if (at !== -1) {
    out.head(name, HEAD + size);
    out.copy(track.times.bytes, at, at + size);
  }
}

/** Writes a header with another duration, which is at one of two places by the header's version. */
function writeHeader(track: Track, out: Output, name: number, piece: Piece, narrow: number, wide: number, duration: bigint): void {
  if (piece.at === -1) {
    return;
  }
  out.head(name, HEAD + piece.size);
  const start = out.copy(track.times.bytes, piece.at, piece.at + piece.size);
  putDuration(out.bytes, start, narrow, wide, duration);
}

/** Puts a duration into a header whose data is at `start`. */
export function putDuration(bytes: Uint8Array, start: number, narrow: number, wide: number, duration: bigint): void {
  if (bytes[start] === 0) {
    putU32(bytes, start + narrow, Number(BigInt.asUintN(32, duration)));
  } else {
    putBigU64(bytes, start + wide, duration);
  }
}

/** Hides what comes before the start for the sake of a key frame. nginx: ngx_http_mp4_update_edts_atom. */
function writeEdits(track: Track, out: Output): void {
  out.head(EDTS, EDITS);
  out.head(ELST, EDIT_LIST);
  const at = out.room(EDIT_LIST - HEAD);
  const { bytes } = out;
  putU32(bytes, at, 1 << 24);
  putU32(bytes, at + 4, 1);
  putBigU64(bytes, at + 8, track.filmDuration);
  putU64(bytes, at + 16, track.prefix);
  putU32(bytes, at + 24, 1 << 16);
}
