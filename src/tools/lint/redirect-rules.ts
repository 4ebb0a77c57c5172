import type { Rule } from './rule.js';
import { enclosing, everything, type LintedDirective } from './tree.js';

const REDIRECTS = new Set(['301', '302', '303', '307', '308']);

/** The argument of a directive that becomes the Location header, and its place; undefined for others. */
function redirectTarget({ name, args }: LintedDirective): { readonly text: string; readonly arg: number } | undefined {
  if (name === 'return' && args[1] !== undefined && REDIRECTS.has(args[0] ?? '')) {
    return { text: args[1], arg: 1 };
  }
  if (name === 'return' && args[1] === undefined && /^(?:https?:\/\/|\$scheme)/.test(args[0] ?? '')) {
    return { text: args[0]!, arg: 0 };
  }
  const target = args[1] ?? '';
  if (name === 'rewrite' && (args[2] === 'redirect' || args[2] === 'permanent' || /^(?:https?:\/\/|\$scheme)/.test(target))) {
    return { text: target, arg: 1 };
  }
  return undefined;
}

/** `return 301 https://$host$uri` puts decoded bytes into a header: `%0d%0a` becomes a line end. */
export const decodedRedirect: Rule = {
  name: 'decoded-redirect',
  about: '`$uri` or `$document_uri`, which are decoded, in a redirect or a header',
  *check(top) {
    for (const directive of everything(top)) {
      const target = redirectTarget(directive) ?? headerValue(directive);
      const used = target === undefined ? undefined : /\$\{?((?:document_)?uri)\b/.exec(target.text)?.[1];
      if (target !== undefined && used !== undefined) {
        yield {
          at: directive,
          arg: target.arg,
          problem: `\`$${used}\` is decoded: a request for "/%0d%0aSet-Cookie:a=b" writes a header of its own`,
          remedy: 'use `$request_uri`, which is as the client sent it and has the arguments, too',
        };
      }
    }
  },
};

function headerValue({ name, args }: LintedDirective): { readonly text: string; readonly arg: number } | undefined {
  return name === 'add_header' && args[1] !== undefined ? { text: args[1], arg: 1 } : undefined;
}

/** `return 301 https://$http_host` sends clients wherever the Host header says. */
export const spoofedHost: Rule = {
  name: 'spoofed-host',
  about: "`$http_host`, which the client chooses, in a redirect or as a backend's host",
  *check(top) {
    for (const directive of everything(top)) {
      const target = redirectTarget(directive) ?? passedHost(directive);
      if (target !== undefined && /\$\{?http_host\b/.test(target.text) && !checked(directive)) {
        yield {
          at: directive,
          arg: target.arg,
          problem: '`$http_host` is whatever the client sends, even when the request line names another host',
          remedy: 'use `$host`, or `$host:$server_port` where the port matters',
        };
      }
    }
  },
};

function passedHost({ name, args }: LintedDirective): { readonly text: string; readonly arg: number } | undefined {
  const host = /^(?:proxy|grpc)_set_header$/.test(name) && args[0]?.toLowerCase() === 'host';
  return host && args[1] !== undefined ? { text: args[1], arg: 1 } : undefined;
}

/** A server that tests the header itself has its own rules. */
function checked(directive: LintedDirective): boolean {
  const server = enclosing(directive, 'server');
  return (server?.inside ?? []).some(({ name, args }) => name === 'if' && args.join(' ').includes('$http_host'));
}

/** `if ($http_origin ~ example.com)` lets `example.com.evil.org` in. */
export const looseOrigin: Rule = {
  name: 'loose-origin',
  about: 'a regular expression for `$http_origin` or `$http_referer` that matches in the middle of other names',
  *check(top) {
    for (const directive of everything(top)) {
      const pattern = originPattern(directive);
      if (pattern !== undefined && NAMES_A_HOST.test(pattern.text) && !isAnchored(pattern.text)) {
        yield {
          at: directive,
          arg: pattern.arg,
          problem: 'the pattern also matches names that only contain it, such as "https://example.com.attacker.org"',
          remedy: 'anchor it at both ends: `"^https://(?:[a-z0-9-]+\\.)?example\\.com$"`',
        };
      }
    }
  },
};

/** A word, a dot and a top-level domain: the pattern lets somebody in, and is no list of words to keep out. */
const NAMES_A_HOST = /[\w-]\\?\.[a-z]{2,}/;

/** The scheme stands before the host, and the end, a slash or a port behind it. */
function isAnchored(pattern: string): boolean {
  const rest = /^\^(?:https?\??|\(\?:https?\)|\(https?\)):(?:\\?\/){2}(.*)$/.exec(pattern)?.[1];
  return rest !== undefined && /(?:\$\)?|\/|\(\??:?[:/].*)$/.test(rest);
}

function originPattern(directive: LintedDirective): { readonly text: string; readonly arg: number } | undefined {
  const { name, args, parent } = directive;
  if (name === 'if') {
    const found = /^\(\s*\$http_(?:origin|referer)\s+~\*?\s+(.*?)\s*\)$/.exec(args.join(' '));
    return found === null ? undefined : { text: unquoted(found[1]!), arg: args.length - 1 };
  }
  if (parent?.name === 'map' && /^\$http_(?:origin|referer)$/.test(parent.args[0] ?? '') && name.startsWith('~')) {
    return { text: name.replace(/^~\*?/, ''), arg: -1 };
  }
  return undefined;
}

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');
