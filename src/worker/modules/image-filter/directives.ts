import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { flag, size } from '../../../shared/config/slots.js';
import { type Context, defineScope } from '../../module.js';
import { UNBOUNDED } from './geometry.js';
import { type Amount, amountOf, type Filter, type ImageSettings, OFF, transforms } from './settings.js';
import { whyNoSharp } from './sharp-package.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const ANGLES = [90, 180, 270];

/** The directives of images. */
export const scope = defineScope<ImageSettings>({
  fields: {
    filter: inherit(OFF),
    buffer: inherit(1024 * 1024),
    jpegQuality: inherit<Amount>({ fixed: 75 }),
    webpQuality: inherit<Amount>({ fixed: 80 }),
    sharpen: inherit<Amount>({ fixed: 0 }),
    interlace: inherit(false),
    transparency: inherit(true),
  },
  directives: {
    image_filter: { in: In.LOCATION, args: [1, 2, 3], set: setFilter },
    image_filter_buffer: { in: ANYWHERE, args: 1, set: size('buffer') },
    image_filter_interlace: { in: ANYWHERE, args: 'flag', set: flag('interlace') },
    image_filter_jpeg_quality: { in: ANYWHERE, args: 1, set: amount('jpegQuality', 1) },
    image_filter_sharpen: { in: ANYWHERE, args: 1, set: amount('sharpen', 0) },
    image_filter_transparency: { in: ANYWHERE, args: 'flag', set: flag('transparency') },
    image_filter_webp_quality: { in: ANYWHERE, args: 1, set: amount('webpQuality', 1) },
  },
  link({ filter }, ctx) {
    if (!ctx.checking || !transforms(filter)) {
      return;
    }
    const why = whyNoSharp(ctx.testing);
    if (why !== undefined) {
      ctx.fail(`"image_filter ${filter.mode}" needs the package sharp, which ${why}`, filter.pos);
    }
  },
});

/** Reads one line, which adds to those before it. nginx: ngx_http_image_filter. */
function setFilter(conf: Partial<ImageSettings>, node: DirectiveNode, ctx: Context): void {
  const [word, first, second] = node.args as [string, string | undefined, string | undefined];
  const before = conf.filter ?? OFF;
  const pos = node.pos;
  if (first === undefined) {
    const mode = word === 'off' || word === 'test' || word === 'size' ? word : invalid(ctx, 0);
    conf.filter = { ...before, mode, pos };
  } else if (second === undefined) {
    if (word !== 'rotate') {
      invalid(ctx, 0);
    }
    const angle = readAmount(first, before.angle, (degrees) => ANGLES.includes(degrees) || invalid(ctx, 1), ctx);
    const mode = before.mode === 'resize' || before.mode === 'crop' ? before.mode : 'rotate';
    conf.filter = { ...before, mode, angle, pos };
  } else {
    const mode: Filter['mode'] = word === 'resize' || word === 'crop' ? word : invalid(ctx, 0);
    const width = readAmount(first, before.width, (side) => side !== 0 || invalid(ctx, 1), ctx);
    const height = readAmount(second, before.height, (side) => side !== 0 || invalid(ctx, 2), ctx);
    conf.filter = { ...before, mode, width, height, pos };
  }
}

const invalid = (ctx: Context, arg: number): never => ctx.fail(`invalid parameter "${ctx.node.args[arg]}"`, { arg });

/** A number that `check` lets pass, or a text with variables. What the other kind said before stays. */
function readAmount(text: string, before: Amount | undefined, check: (value: number) => unknown, ctx: Context): Amount {
  const compiled = ctx.complex(text);
  if (compiled.constant === undefined) {
    return { fixed: before?.fixed ?? 0, text: compiled };
  }
  const fixed = amountOf(text);
  check(fixed);
  return { fixed, text: before?.text };
}

/** A number from `least` on. nginx: ngx_http_image_filter_jpeg_quality and its like. */
function amount(key: 'jpegQuality' | 'webpQuality' | 'sharpen', least: number) {
  return (conf: Partial<ImageSettings>, node: DirectiveNode, ctx: Context): void => {
    const text = node.args[0]!;
    const check = (value: number): unknown => (value >= least && value !== UNBOUNDED) || ctx.fail(`invalid value "${text}"`, { arg: 0 });
    conf[key] = readAmount(text, conf[key], check, ctx);
  };
}
