import { u32 } from './big-endian.js';
import { type Cut, scaled } from './cut.js';
import type { Track } from './track.js';

/** A time in a track: the run that it is in, the samples before it in this run and in all, and how long each sample of the run is. */
class Place {
  run = 0;
  rest = 0;
  samples = 0;
  duration = 0;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Looks for a time, in units of the track, from the first run on that is left. Returns false when it is behind the last; `place.samples`
 * counts all then.
 */
function find(track: Track, time: bigint, place: Place): boolean {
  const { times } = track;
  let run = times.from;
  let samples = 0;
  // As long as numbers of 53 bits do not hold it, which files that lie can have.
  for (; time > SAFE && run < times.to; run++) {
    const count = times.count(run);
    const duration = times.value(run, 1);
    const total = BigInt(count) * BigInt(duration);
    if (time < total) {
      return set(place, run, Number(time / BigInt(duration)), samples, duration);
    }
    samples += count;
    time -= total;
  }
  let left = Number(time);
  const { bytes, at, from, to } = times;
  for (; run < to; run++) {
    const count = run === from ? times.count(run) : u32(bytes, at + 8 * run);
    const duration = u32(bytes, at + 8 * run + 4);
    const total = count * duration;
    if (left < total) {
      return set(place, run, (left - (left % duration)) / duration, samples, duration);
    }
    samples += count;
    left -= total;
  }
  place.samples = samples;
  return false;
}

function set(place: Place, run: number, rest: number, samples: number, duration: number): true {
  place.run = run;
  place.rest = rest;
  place.samples = samples + rest;
  place.duration = duration;
  return true;
}

/**
 * Leaves out the samples before the start and behind the end. Says which samples these are, and how much of the track comes before the
 * start for the sake of a key frame. Returns what is wrong. nginx: ngx_http_mp4_update_stts_atom.
 */
export function cutTimes(track: Track, cut: Cut): string | undefined {
  const { times } = track;
  if (times.data === -1) {
    return 'no mp4 stts atoms were found';
  }
  const place = new Place();
  if (!find(track, scaled(cut.start, track.timescale), place)) {
    return 'start time is out mp4 stts samples';
  }
  const ahead = cut.startKeyFrame ? samplesAhead(track, place.samples) : 0;
  if (ahead === -1) {
    return 'zero sync sample';
  }
  beginAhead(track, place, ahead);
  if (cut.length === 0n) {
    return undefined;
  }
  if (find(track, BigInt.asUintN(64, scaled(cut.length, track.timescale) + BigInt(track.prefix)), place)) {
    times.endAt(place.run, place.rest);
  }
  track.endSample = track.startSample + place.samples;
  return undefined;
}

/** Begins the track so many samples before a place. */
function beginAhead(track: Track, place: Place, ahead: number): void {
  const { times } = track;
  const first = place.samples - ahead;
  let { run, rest, duration } = place;
  while (rest < ahead && run > 0) {
    // nginx reckons with 32 bits here.
    track.prefix += Math.imul(rest, duration) >>> 0;
    ahead -= rest;
    run--;
    rest = times.value(run, 0);
    duration = times.value(run, 1);
  }
  track.prefix += Math.imul(ahead, duration) >>> 0;
  track.duration = BigInt.asUintN(64, track.duration + BigInt(track.prefix));
  times.beginAt(run, times.value(run, 0) - (rest - ahead));
  track.startSample = first;
}

/** How many samples the key frame is before a sample; -1 when the table of key frames is broken. nginx: ngx_http_mp4_seek_key_frame. */
function samplesAhead(track: Track, sample: number): number {
  const { bytes, at, entries } = track.keyFrames;
  // Key frames are counted from 1 on.
  const wanted = (sample + 1) >>> 0;
  let ahead = 0;
  for (let i = 0; i < entries; i++) {
    const keyFrame = u32(bytes, at + 4 * i);
    if (keyFrame === 0) {
      return -1;
    }
    if (keyFrame > wanted) {
      break;
    }
    ahead = wanted - keyFrame;
  }
  return ahead;
}
