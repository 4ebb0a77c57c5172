/** Stands for a side that nothing bounds, `-`. nginx: (ngx_uint_t) -1. */
export const UNBOUNDED = 2 ** 64;

/** What is to be made of an image. */
export interface Wanted {
  readonly mode: 'resize' | 'crop' | 'rotate';
  /** The sides that it may have; 0 where it is only turned. */
  readonly maxWidth: number;
  readonly maxHeight: number;
  /** Degrees against the clock; what is none of 0, 90, 180 and 270 turns nothing, and counts as a change all the same. */
  readonly angle: number;
}

/** The steps that make it: first scaled, then turned, then cut. */
export interface Plan {
  /** The size that it is scaled to; null where it keeps its own. */
  readonly scaled: { readonly width: number; readonly height: number } | null;
  readonly turned: 0 | 90 | 180 | 270;
  /** What is left of the turned image; null for all of it. */
  readonly cut: { readonly left: number; readonly top: number; readonly width: number; readonly height: number } | null;
}

/** Whether an image of this size stays as it is, unless it is to be encoded anew. */
export const staysAsItIs = (width: number, height: number, { maxWidth, maxHeight, angle }: Wanted): boolean =>
  angle === 0 && width <= maxWidth && height <= maxHeight;

/** What is done with an image of this size, rounded as nginx does. nginx: ngx_http_image_resize. */
export function planFor(width: number, height: number, { mode, maxWidth, maxHeight, angle }: Wanted): Plan {
  let [dx, dy] = [width, height];
  const fitWidth = (): void => {
    if (dx > maxWidth) {
      dy = Math.max(1, Math.floor((dy * maxWidth) / dx));
      dx = maxWidth;
    }
  };
  const fitHeight = (): void => {
    if (dy > maxHeight) {
      dx = Math.max(1, Math.floor((dx * maxHeight) / dy));
      dy = maxHeight;
    }
  };
  if (mode === 'resize') {
    fitWidth();
    fitHeight();
  } else if (mode === 'crop') {
    if (dx / dy < maxWidth / maxHeight) {
      fitWidth();
    } else {
      fitHeight();
    }
  }
  const scaled = dx === width && dy === height ? null : { width: dx, height: dy };
  const turned = angle === 90 || angle === 180 || angle === 270 ? angle : 0;
  if (turned === 90 || turned === 270) {
    [dx, dy] = [dy, dx];
  }
  if (mode !== 'crop' || (dx <= maxWidth && dy <= maxHeight)) {
    return { scaled, turned, cut: null };
  }
  const [extraX, extraY] = [Math.max(0, dx - maxWidth), Math.max(0, dy - maxHeight)];
  const cut = { left: extraX >> 1, top: extraY >> 1, width: dx - extraX, height: dy - extraY };
  return { scaled, turned, cut };
}
