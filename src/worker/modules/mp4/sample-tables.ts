import { u32 } from './big-endian.js';
import type { Cut } from './cut.js';
import type { Track } from './track.js';

/** Leaves out the key frames before the first sample and behind the last. nginx: ngx_http_mp4_update_stss_atom. */
export function cutKeyFrames(track: Track, cut: Cut): void {
  const { keyFrames } = track;
  if (keyFrames.data === -1) {
    return;
  }
  keyFrames.from = firstFrom(track, (track.startSample + 1) >>> 0);
  if (cut.length !== 0n) {
    keyFrames.to = firstFrom(track, (track.endSample + 1) >>> 0);
  }
}

/** The first key frame that is left and not before a sample. */
function firstFrom(track: Track, sample: number): number {
  const { bytes, at, from, to } = track.keyFrames;
  let i = from;
  while (i < to && u32(bytes, at + 4 * i) < sample) {
    i++;
  }
  return i;
}

/** Leaves out the offsets of samples before the first one and behind the last. nginx: ngx_http_mp4_update_ctts_atom. */
export function cutOffsets(track: Track, cut: Cut): void {
  const { offsets } = track;
  if (offsets.data === -1) {
    return;
  }
  const { bytes, at, to } = offsets;
  let sample = (track.startSample + 1) >>> 0;
  let run = 0;
  let count = 0;
  for (; run < to; run++) {
    count = u32(bytes, at + 8 * run);
    if (sample <= count) {
      break;
    }
    sample -= count;
  }
  if (run === to) {
    offsets.from = run;
    return;
  }
  // Of a sample beyond 32 bits, nginx has the number 0.
  count = (count - ((sample - 1) >>> 0)) >>> 0;
  offsets.beginAt(run, count);
  if (cut.length === 0n) {
    return;
  }
  sample = (track.endSample - track.startSample + 1) >>> 0;
  while (sample > count) {
    sample -= count;
    if (++run === to) {
      return;
    }
    count = u32(bytes, at + 8 * run);
  }
  offsets.endAt(run, (sample - 1) >>> 0);
}

/**
 * Leaves out the sizes of samples before the first and behind the last. Says how much of its first chunk is left out, and how much of its
 * last one is left. Returns what is wrong. nginx: ngx_http_mp4_update_stsz_atom.
 */
export function cutSizes(track: Track, cut: Cut): string | undefined {
  const { sizes } = track;
  if (sizes.data === -1 || track.uniformSize !== 0) {
    return undefined;
  }
  if (track.startSample >= sizes.entries) {
    return 'start time is out mp4 stsz samples';
  }
  sizes.from = track.startSample;
  track.startChunkSize = sum(track, sizes.from, track.startChunkSamples);
  if (track.startChunkSize > cut.fileSize) {
    return 'too large mp4 start samples size';
  }
  if (cut.length === 0n) {
    return undefined;
  }
  if (track.endSample > sizes.entries) {
    return 'end time is out mp4 stsz samples';
  }
  sizes.to = track.endSample;
  track.endChunkSize = sum(track, sizes.to, track.endChunkSamples);
  return track.endChunkSize > cut.fileSize ? 'too large mp4 end samples size' : undefined;
}

/** Bytes of so many samples before a sample. */
function sum({ sizes }: Track, sample: number, count: number): number {
  const { bytes, at } = sizes;
  let size = 0;
  for (let i = sample - count; i < sample; i++) {
    size += u32(bytes, at + 4 * i);
  }
  return size;
}
