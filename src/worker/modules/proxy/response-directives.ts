import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import type { Directive } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { lineValue } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';
import { defaultRedirect } from './rewrite.js';
import type { CookieFlags, ProxySettings, Rewrite } from './settings.js';

type Row = Directive<ProxySettings, Request>;

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

/** A rule whose pattern is a regular expression behind `~` or `~*`. */
function regexRule(pattern: string, replacement: string, caseless: boolean, ctx: Context): Rewrite {
  const starred = pattern.startsWith('*');
  const regex = ctx.regex(starred ? pattern.slice(1) : pattern, caseless || starred);
  return { kind: 'regex', pattern: undefined, regex, replacement: lineValue(ctx.complex(replacement)) };
}

// nginx: ngx_http_proxy_redirect.
const redirect: Row['set'] = (conf, node, ctx) => {
  if (conf.redirect === false) {
    ctx.reject('is duplicate');
  }
  const [pattern, replacement] = node.args as [string, string | undefined];
  if (replacement === undefined && pattern === 'off') {
    if (conf.redirects !== undefined) {
      ctx.reject('is duplicate');
    }
    conf.redirect = false;
    return;
  }
  conf.redirect = true;
  const rules = conf.redirects ?? [];
  conf.redirects = [...rules, replacement === undefined ? defaultRule(pattern, conf, ctx) : redirectRule(pattern, replacement, ctx)];
};

function defaultRule(word: string, conf: Partial<ProxySettings>, ctx: Context): Rewrite {
  if (word !== 'default') {
    ctx.fail(`invalid parameter "${word}"`, { arg: 0 });
  }
  if (conf.pass?.dynamic !== undefined) {
    ctx.fail('"proxy_redirect default" cannot be used with "proxy_pass" directive with variables');
  }
  if (conf.pass === undefined) {
    return ctx.fail('"proxy_redirect default" should be placed after the "proxy_pass" directive');
  }
  return defaultRedirect(conf.pass)!;
}

function redirectRule(pattern: string, replacement: string, ctx: Context): Rewrite {
  if (pattern.startsWith('~')) {
    return regexRule(pattern.slice(1), replacement, false, ctx);
  }
  return { kind: 'prefix', pattern: ctx.complex(pattern), regex: undefined, replacement: lineValue(ctx.complex(replacement)) };
}

/** Reads a directive whose lines add up and that `off` turns off. Returns undefined for `off`. */
function offOr(node: DirectiveNode, known: readonly unknown[] | null | undefined, ctx: Context): boolean {
  if (known === null) {
    ctx.reject('is duplicate');
  }
  if (node.args.length > 1) {
    return false;
  }
  if (node.args[0] !== 'off') {
    ctx.fail(`invalid parameter "${node.args[0]}"`, { arg: 0 });
  }
  if (known !== undefined) {
    ctx.reject('is duplicate');
  }
  return true;
}

// nginx: ngx_http_proxy_cookie_domain.
const cookieDomain: Row['set'] = (conf, node, ctx) => {
  if (offOr(node, conf.cookieDomains, ctx)) {
    conf.cookieDomains = null;
    return;
  }
  const [pattern, replacement] = node.args as [string, string];
  conf.cookieDomains = append(conf.cookieDomains, domainRule(pattern, replacement, ctx));
};

function domainRule(pattern: string, replacement: string, ctx: Context): Rewrite {
  if (pattern.startsWith('~')) {
    return {
      kind: 'regex',
      pattern: undefined,
      regex: ctx.regex(pattern.slice(1), true),
      replacement: lineValue(ctx.complex(replacement)),
    };
  }
  const bare = (text: string): string => (text.startsWith('.') ? text.slice(1) : text);
  return { kind: 'domain', pattern: ctx.complex(bare(pattern)), regex: undefined, replacement: lineValue(ctx.complex(bare(replacement))) };
}

// nginx: ngx_http_proxy_cookie_path.
const cookiePath: Row['set'] = (conf, node, ctx) => {
  if (offOr(node, conf.cookiePaths, ctx)) {
    conf.cookiePaths = null;
    return;
  }
  const [pattern, replacement] = node.args as [string, string];
  conf.cookiePaths = append(conf.cookiePaths, redirectRule(pattern, replacement, ctx));
};

// nginx: ngx_http_proxy_cookie_flags.
const cookieFlags: Row['set'] = (conf, node, ctx) => {
  if (offOr(node, conf.cookieFlags, ctx)) {
    conf.cookieFlags = null;
    return;
  }
  const [name, ...flags] = node.args as [string, ...string[]];
  const line: CookieFlags = {
    name: name.startsWith('~') ? undefined : ctx.complex(name),
    regex: name.startsWith('~') ? ctx.regex(name.slice(1), true) : undefined,
    flags: flags.map((flag) => ctx.complex(flag)),
  };
  conf.cookieFlags = append(conf.cookieFlags, line);
};

/** What changes redirects and cookies of backends. */
export const responseDirectives: { readonly [name: string]: Row } = {
  proxy_redirect: { in: ANYWHERE, args: [1, 2], set: redirect },
  proxy_cookie_domain: { in: ANYWHERE, args: [1, 2], set: cookieDomain },
  proxy_cookie_path: { in: ANYWHERE, args: [1, 2], set: cookiePath },
  proxy_cookie_flags: { in: ANYWHERE, args: [1, 2, 3, 4], set: cookieFlags },
};
