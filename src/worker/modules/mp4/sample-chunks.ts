import type { Cut } from './cut.js';
import type { Track } from './track.js';

const UNORDERED = 'unordered mp4 stsc chunks';

/** Where a sample is: its entry, that entry's first chunk and samples a chunk, the chunk behind the entry's last, the samples before it. */
class Place {
  entry = 0;
  chunk = 0;
  samples = 0;
  next = 0;
  rest = 0;
  /** Samples a chunk in the entry before. */
  before = 0;
}

/** Looks for a sample, counted from the first entry on that is left. Returns what is wrong. */
function find(track: Track, sample: number, what: 'start' | 'end', place: Place): string | undefined {
  const { chunks } = track;
  let entry = chunks.from;
  let chunk = chunks.chunk(entry);
  let samples = chunks.samples(entry);
  for (;;) {
    const last = entry + 1 === chunks.to;
    const next = last ? (track.chunkCount + 1) >>> 0 : chunks.chunk(entry + 1);
    if (next < chunk) {
      return UNORDERED;
    }
    const total = (next - chunk) * samples;
    if (last && sample > total) {
      return `${what} time is out mp4 stsc chunks`;
    }
    if (last || sample < total) {
      place.next = next;
      break;
    }
    sample -= total;
    if (next > chunk) {
      place.before = samples;
    }
    entry++;
    chunk = next;
    samples = chunks.samples(entry);
  }
  place.entry = entry;
  place.chunk = chunk;
  place.samples = samples;
  place.rest = sample;
  return samples === 0 ? 'zero number of samples' : chunk === 0 ? 'zero chunk' : undefined;
}

/**
 * Leaves out the chunks before the first sample and behind the last. Says which they are, and how many samples are cut from the first, and
 * left of the last. Returns what is wrong. nginx: ngx_http_mp4_update_stsc_atom.
 */
export function cutChunks(track: Track, cut: Cut): string | undefined {
  const { chunks } = track;
  if (chunks.data === -1) {
    return 'no mp4 stsc atoms were found';
  }
  if (chunks.entries === 0) {
    return 'zero number of entries in stsc atom';
  }
  return cutFirstChunk(track) ?? (cut.length === 0n ? undefined : cutLastChunk(track));
}

function cutFirstChunk(track: Track): string | undefined {
  const { chunks } = track;
  const place = new Place();
  const wrong = find(track, track.startSample >>> 0, 'start', place);
  if (wrong !== undefined) {
    return wrong;
  }
  const { samples } = place;
  const left = place.rest % samples;
  const chunk = place.chunk - 1 + (place.rest - left) / samples;
  track.startChunk = chunk;
  track.startChunkSamples = left;
  chunks.beginAt(place.entry, (chunk + 1) >>> 0);
  if (left !== 0) {
    if (place.next - chunk === 2) {
      chunks.cutFirst(samples - left);
    } else {
      chunks.splitFirst(samples - left);
    }
  }
  return undefined;
}

function cutLastChunk(track: Track): string | undefined {
  const { chunks } = track;
  const place = new Place();
  let sample = (track.endSample - track.startSample) >>> 0;
  if (chunks.startSamples !== -1) {
    chunks.startSamples = Math.min(chunks.startSamples, sample);
    sample -= chunks.startSamples;
    // nginx forgets this chunk: of a track that ends in the chunk where it starts, it sends nothing.
    place.before = chunks.startSamples;
  }
  const wrong = find(track, sample, 'end', place);
  if (wrong !== undefined) {
    return wrong;
  }
  const { samples, rest } = place;
  const left = rest % samples;
  const chunk = place.chunk - 1 + (rest - left) / samples;
  chunks.to = rest === 0 ? place.entry : place.entry + 1;
  track.endChunk = left === 0 ? chunk : chunk + 1;
  track.endChunkSamples = left !== 0 ? left : rest === 0 ? place.before : samples;
  if (left !== 0) {
    if (chunk === place.chunk - 1) {
      chunks.cutLast(left);
    } else {
      chunks.splitLast(left);
    }
  }
  return undefined;
}
