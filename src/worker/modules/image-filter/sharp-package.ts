// The only file that uses sharp, which decodes and encodes images with libvips, in threads.
import { createRequire } from 'node:module';
import type { Metadata, Sharp, SharpConstructor, SharpOptions } from 'sharp';
import { firstFrame } from './first-frame.js';
import { type Plan, planFor, staysAsItIs, type Wanted } from './geometry.js';
import { freeMemory } from './image-bytes.js';
import { beginsAs, type ImageType } from './image-type.js';
import { MOST_PIXELS } from './image-works.js';
import { fewColours, hasPalette, withoutTransparentColour } from './png-chunks.js';

/** How an image is made of another one. */
export interface Treatment {
  readonly wanted: Wanted;
  /** An image that keeps its size is encoded anew all the same. */
  readonly always: boolean;
  /** The quality of a JPEG or WebP, 1 to 100. */
  readonly quality: number;
  /** Percents by which it is sharpened. */
  readonly sharpen: number;
  readonly interlace: boolean;
  readonly transparency: boolean;
}

/** Takes the new image, null where the old one stays, or why there is none. */
export type Treated = (outcome: Buffer | string | null) => void;

/** Loaders for the formats that nginx has; sharp has others, of which no image may make use. */
const LOADERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadNsgif', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'];
const OPTIONS: SharpOptions = { failOn: 'error', limitInputPixels: MOST_PIXELS, sequentialRead: true };
/** How hard a palette is looked for, of 10: with less, a picture with noise keeps few of its colours. */
const EFFORT = 4;
/** Above it WebP loses nothing. libgd: gdWebpLossless. */
const LOSSY = 100;

let loaded: SharpConstructor | string | undefined;

/** Why sharp cannot be used, in words that follow its name; undefined where it can be found, and with `load` be loaded, too. */
export function whyNoSharp(load: boolean): string | undefined {
  if (load) {
    const sharp = loadSharp();
    return typeof sharp === 'string' ? sharp : undefined;
  }
  try {
    createRequire(import.meta.url).resolve('sharp');
    return undefined;
  } catch {
    return 'is not installed';
  }
}

/** Loads sharp, once; returns why that fails. */
export function loadSharp(): SharpConstructor | string {
  loaded ??= load();
  return loaded;
}

function load(): SharpConstructor | string {
  const require = createRequire(import.meta.url);
  try {
    const sharp = require('sharp') as SharpConstructor;
    // Nothing is looked at twice, and each image has one thread.
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: LOADERS });
    return sharp;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'MODULE_NOT_FOUND' && message.includes("'sharp'") ? 'is not installed' : `cannot be loaded: ${firstLine(message)}`;
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.trim();

/** Makes an image of another one, in threads. */
export function treat(sharp: SharpConstructor, type: ImageType, image: Buffer, treatment: Treatment, done: Treated): void {
  const input = beginsAs(type, image) ? decodable(type, image, treatment.transparency) : undefined;
  if (input === undefined) {
    done(`this is no ${type} that can be decoded`);
    return;
  }
  const end: Treated = (outcome) => {
    if (input !== image) {
      freeMemory(input);
    }
    done(outcome);
  };
  sharp(input, OPTIONS).metadata((error, metadata) => {
    if (error) {
      end(reasonOf(error));
      return;
    }
    try {
      const work = begin(sharp, type, input, metadata, treatment);
      if (typeof work === 'string' || work === null) {
        end(work);
      } else {
        work.toBuffer((problem, bytes) => end(problem ? reasonOf(problem) : bytes));
      }
    } catch (problem) {
      end(reasonOf(problem));
    }
  });
}

const reasonOf = (error: unknown): string => firstLine(error instanceof Error ? error.message : String(error));

/** What makes the new image, null where the old one stays, or why there is none. */
function begin(sharp: SharpConstructor, type: ImageType, input: Buffer, { format, width, height }: Metadata, treatment: Treatment) {
  const { wanted, always, quality } = treatment;
  if (format !== type) {
    return `this is no ${type}`;
  }
  if (!always && staysAsItIs(width, height, wanted)) {
    return null;
  }
  if (quality <= 0 && (type === 'jpeg' || type === 'webp')) {
    return 'the quality is no number above zero';
  }
  const work = steps(sharp(input, OPTIONS), planFor(width, height, wanted));
  const flat = type === 'gif' || (type === 'png' && fewColours(input));
  return encode(flat ? work : sharpened(work, treatment.sharpen), type, treatment, input);
}

/** What the decoder gets of an image; undefined where nothing of it can be decoded. */
function decodable(type: ImageType, image: Buffer, transparency: boolean): Buffer | undefined {
  if (type === 'gif') {
    return firstFrame(image, !transparency);
  }
  return type === 'png' && !transparency ? withoutTransparentColour(image) : image;
}

function steps(image: Sharp, { scaled, turned, cut }: Plan): Sharp {
  let work = image;
  if (scaled !== null) {
    work = work.resize({ ...scaled, fit: 'fill' });
  }
  if (turned !== 0) {
    // The other way round: sharp turns with the clock.
    work = work.rotate(360 - turned);
  }
  return cut === null ? work : work.extract(cut);
}

/** Sharpens by what the neighbours above and below, and on both sides, differ; as libgd, not what has a palette. libgd: gdImageSharpen. */
function sharpened(image: Sharp, percent: number): Sharp {
  if (percent <= 0) {
    return image;
  }
  const outer = -percent / 400;
  const line = [outer, 1 - 2 * outer, outer];
  return image.convolve({ width: 3, height: 3, kernel: line.flatMap((a) => line.map((b) => a * b)), scale: 1 });
}

function encode(image: Sharp, type: ImageType, { quality, interlace }: Treatment, input: Buffer): Sharp {
  switch (type) {
    case 'jpeg':
      return image.jpeg({ quality: Math.min(quality, LOSSY), progressive: interlace });
    case 'gif':
      return image.gif({ progressive: interlace, effort: EFFORT });
    case 'png':
      return image.png(hasPalette(input) ? { progressive: interlace, palette: true, effort: EFFORT } : { progressive: interlace });
    case 'webp':
      return image.webp(quality > LOSSY ? { lossless: true } : { quality });
  }
}
