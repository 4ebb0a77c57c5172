import { addToU64, putU32, putU64, u32, u64 } from './big-endian.js';
import type { Cut } from './cut.js';
import type { Output } from './output.js';
import type { Track } from './track.js';

const MOST_U32 = 2 ** 32 - 1;

/**
 * Leaves out the chunks before the first one and behind the last, and says from where to where in the file the track's samples are.
 * Returns what is wrong. nginx: ngx_http_mp4_update_stco_atom, ngx_http_mp4_update_co64_atom.
 */
export function cutPlaces(track: Track, cut: Cut): string | undefined {
  const { places } = track;
  if (places.data === -1) {
    return 'no mp4 stco atoms were found';
  }
  const name = track.wide ? 'co64' : 'stco';
  if (track.startChunk >= places.entries) {
    return `start time is out mp4 ${name} chunks`;
  }
  places.from = track.startChunk;
  const first = placeOf(track, places.from);
  if (exceeds(track, first, track.startChunkSize, cut)) {
    return 'too large chunk offset';
  }
  track.startOffset = first + track.startChunkSize;
  if (cut.length === 0n) {
    return undefined;
  }
  if (track.endChunk > places.entries) {
    return `end time is out mp4 ${name} chunks`;
  }
  places.to = track.endChunk;
  if (places.left === 0) {
    track.startOffset = cut.fileSize;
    track.endOffset = 0;
    return undefined;
  }
  const last = places.left === 1 ? track.startOffset : placeOf(track, places.to - 1);
  if (exceeds(track, last, track.endChunkSize, cut)) {
    return 'too large chunk offset';
  }
  track.endOffset = last + track.endChunkSize;
  return undefined;
}

/** Where in the file a chunk begins, as the file says. */
const placeOf = ({ places, wide }: Track, chunk: number): number =>
  wide ? u64(places.bytes, places.at + 8 * chunk) : u32(places.bytes, places.at + 4 * chunk);

const exceeds = ({ wide }: Track, place: number, size: number, { fileSize }: Cut): boolean =>
  place > fileSize - size || (!wide && place + size > MOST_U32);

/** Writes the atom, with the places that the chunks have in the file. Returns where the first of them is in the output. */
export function writePlaces(track: Track, out: Output, name: number): number {
  const { places } = track;
  places.writeHead(out, name, places.left);
  const at = places.writeEntries(out);
  if (places.left > 0) {
    if (track.wide) {
      putU64(out.bytes, at, track.startOffset);
    } else {
      putU32(out.bytes, at, track.startOffset);
    }
  }
  return at;
}

/** Moves the places of so many chunks by so many bytes, as they are in the output. nginx: ngx_http_mp4_adjust_stco_atom. */
export function movePlaces(bytes: Uint8Array, at: number, count: number, wide: boolean, by: number): void {
  const width = wide ? 8 : 4;
  for (let i = 0; i < count; i++) {
    const place = at + i * width;
    if (wide) {
      addToU64(bytes, place, by);
    } else {
      putU32(bytes, place, u32(bytes, place) + by);
    }
  }
}
