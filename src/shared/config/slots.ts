import type { ComplexValue } from '../value/complex.js';
import type { Subject } from '../value/subject.js';
import type { ConfigContext, Directive } from './define.js';
import type { DirectiveNode } from './language/ast.js';
import { parseOffset, parseSize, parseTime } from './language/units.js';

type Set<C, R extends Subject> = Directive<C, R>['set'];

function store<R extends Subject>(conf: object, key: string, value: unknown, ctx: ConfigContext<R>): void {
  const settings = conf as Record<string, unknown>;
  if (settings[key] !== undefined) {
    ctx.reject('is duplicate');
  }
  settings[key] = value;
}

/** `on` or `off`. Use with arity `flag`. nginx: ngx_conf_set_flag_slot. */
export const flag = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: boolean | undefined }, R> => {
  return (conf, node, ctx) => store(conf, key, node.args[0]!.toLowerCase() === 'on', ctx);
};

/** Reads `on` or `off` of a line, in whatever case, with nginx's message for other words. */
export function onOff<R extends Subject>(name: string, value: string, ctx: ConfigContext<R>): boolean {
  const word = value.toLowerCase();
  return (
    word === 'on' || (word !== 'off' && ctx.fail(`invalid value "${value}" in "${name}" directive, it must be "on" or "off"`, { arg: 0 }))
  );
}

/** A whole number, perhaps bounded. nginx: ngx_conf_set_num_slot, ngx_conf_check_num_bounds. */
export const int = <K extends string, R extends Subject>(
  key: K,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): Set<{ [P in K]: number | undefined }, R> => {
  return (conf, node, ctx) => {
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    store(conf, key, parseInteger(node.args[0]!, ctx, min, max), ctx);
  };
};

/** Reads a whole number within bounds, with nginx's messages. */
export function parseInteger<R extends Subject>(text: string, ctx: ConfigContext<R>, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (!/^\d+$/.test(text) || Number(text) > Number.MAX_SAFE_INTEGER) {
    ctx.reject('invalid number', { arg: 0 });
  }
  const n = Number(text);
  if (n < min || n > max) {
    if (max === Number.MAX_SAFE_INTEGER) {
      ctx.fail(`value must be equal to or greater than ${min}`, { arg: 0 });
    }
    ctx.fail(min <= 0 ? `value must be equal to or less than ${max}` : `value must be between ${min} and ${max}`, { arg: 0 });
  }
  return n;
}

/** A size in bytes, such as `8k`. nginx: ngx_conf_set_size_slot. */
export const size = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: number | undefined }, R> => {
  return (conf, node, ctx) => {
    const bytes = parseSize(node.args[0]!);
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    store(conf, key, bytes ?? ctx.reject('invalid value', { arg: 0 }), ctx);
  };
};

/** A file offset, such as `1g`. nginx: ngx_conf_set_off_slot. */
export const offset = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: number | undefined }, R> => {
  return (conf, node, ctx) => {
    const bytes = parseOffset(node.args[0]!);
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    store(conf, key, bytes ?? ctx.reject('invalid value', { arg: 0 }), ctx);
  };
};

/** A duration in milliseconds. nginx: ngx_conf_set_msec_slot. */
export const msec = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: number | undefined }, R> => time(key, 'ms');

/** A duration in seconds. nginx: ngx_conf_set_sec_slot. */
export const sec = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: number | undefined }, R> => time(key, 's');

function time<K extends string, R extends Subject>(key: K, unit: 'ms' | 's'): Set<{ [P in K]: number | undefined }, R> {
  return (conf, node, ctx) => {
    const value = parseTime(node.args[0]!, unit);
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    store(conf, key, value ?? ctx.reject('invalid value', { arg: 0 }), ctx);
  };
}

/** Text as it is. nginx: ngx_conf_set_str_slot. */
export const text = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: string | undefined }, R> => {
  return (conf, node, ctx) => store(conf, key, node.args[0]!, ctx);
};

/** One of a few words. nginx: ngx_conf_set_enum_slot. */
export const oneOf = <K extends string, V, R extends Subject>(
  key: K,
  words: { readonly [word: string]: V },
): Set<{ [P in K]: V | undefined }, R> => {
  return (conf, node, ctx) => {
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const word = node.args[0]!.toLowerCase();
    if (!Object.hasOwn(words, word)) {
      ctx.fail(`invalid value "${node.args[0]}"`, { arg: 0, hint: `it is one of ${Object.keys(words).join(', ')}` });
    }
    store(conf, key, words[word], ctx);
  };
};

/** Several of a few words, as a bit set. nginx: ngx_conf_set_bitmask_slot. */
export const bits = <K extends string, R extends Subject>(
  key: K,
  words: { readonly [word: string]: number },
): Set<{ [P in K]: number | undefined }, R> => {
  return (conf, node, ctx) => {
    let set = ((conf as Record<string, unknown>)[key] as number | undefined) ?? 0;
    node.args.forEach((argument, i) => {
      const word = argument.toLowerCase();
      if (!Object.hasOwn(words, word)) {
        ctx.fail(`invalid value "${argument}"`, { arg: i, hint: `it is one of ${Object.keys(words).join(', ')}` });
      }
      const bit = words[word]!;
      if (bit !== 0 && (set & bit) === bit) {
        ctx.warn(`duplicate value "${argument}"`, { arg: i });
      }
      set |= bit;
    });
    (conf as Record<string, unknown>)[key] = set;
  };
};

/** Text with variables. nginx: ngx_http_set_complex_value_slot. */
export const complex = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: ComplexValue<R> | undefined }, R> => {
  return (conf, node, ctx) => {
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    store(conf, key, ctx.complex(node.args[0]!), ctx);
  };
};

/** Texts with variables, of which one that is true is enough; a second line adds to the first. nginx: ngx_http_set_predicate_slot. */
export const predicates = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: readonly ComplexValue<R>[] | undefined }, R> => {
  return (conf, node, ctx) => {
    const settings = conf as Record<string, readonly ComplexValue<R>[] | undefined>;
    settings[key] = [...(settings[key] ?? []), ...node.args.map((text) => ctx.complex(text))];
  };
};

/** Number and size of buffers, such as `8 16k`. nginx: ngx_conf_set_bufs_slot. */
export const buffers = <K extends string, R extends Subject>(
  key: K,
): Set<{ [P in K]: { readonly number: number; readonly size: number } | undefined }, R> => {
  return (conf, node, ctx) => {
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const number = /^\d+$/.test(node.args[0]!) ? Number(node.args[0]) : 0;
    const bytes = parseSize(node.args[1]!) ?? 0;
    if (number === 0) {
      ctx.reject('invalid value', { arg: 0 });
    }
    if (bytes === 0) {
      ctx.reject('invalid value', { arg: 1 });
    }
    store(conf, key, { number, size: bytes }, ctx);
  };
};

/** Sizes of buffers that nothing uses: the arguments are looked at all the same. */
export const unusedBuffers = <R extends Subject>(_conf: object, node: DirectiveNode, ctx: ConfigContext<R>): void => {
  rejectSecond(ctx);
  buffers<'unused', R>('unused')({}, node, ctx);
};

/** Permissions of files, such as `group:rw all:r`, as mode bits. nginx: ngx_conf_set_access_slot. */
export const access = <K extends string, R extends Subject>(key: K): Set<{ [P in K]: number | undefined }, R> => {
  return (conf, node, ctx) => {
    if ((conf as Record<string, unknown>)[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const shifts: { readonly [who: string]: number | undefined } = { user: 6, group: 3, all: 0 };
    const rights: { readonly [what: string]: number | undefined } = { rw: 6, r: 4 };
    let mode = 0;
    let user = 0o600;
    for (const [i, argument] of node.args.entries()) {
      const [who, what] = argument.split(':') as [string, string | undefined];
      const shift = shifts[who];
      const right = rights[what ?? ''];
      if (shift === undefined || right === undefined) {
        return ctx.fail(`invalid value "${argument}"`, { arg: i });
      }
      if (who === 'user') {
        user = 0;
      }
      mode |= right << shift;
    }
    store(conf, key, mode | user, ctx);
  };
};

/**
 * For settings whose effect nginx ties to its own memory or event handling, and which Node decides itself: read and
 * checked only. Each of them stands in docs/compatibility.md. `repeats`: a block may have several.
 */
export const accepted = <R extends Subject>(check?: (ctx: ConfigContext<R>) => void, repeats = false): Set<object, R> =>
  // The name tells a test which directives have no effect.
  function withoutEffect(_conf, _node, ctx) {
    if (!repeats) {
      rejectSecond(ctx);
    }
    check?.(ctx);
  };

/** Refuses a directive that its block has already. */
function rejectSecond<R extends Subject>(ctx: ConfigContext<R>): void {
  if (ctx.block.seen(ctx.node.name) !== undefined) {
    ctx.reject('is duplicate');
  }
}
