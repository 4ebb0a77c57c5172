import type { Rule } from './rule.js';
import { effective, enclosing, everything, isPrefix, type LintedDirective, locationMatch, ownDirectives } from './tree.js';

interface ProxyUrl {
  readonly host: string;
  /** What follows the host; undefined when nothing does. */
  readonly path: string | undefined;
}

function proxyUrl(url: string): ProxyUrl | undefined {
  const parts = /^[a-z]+:\/\/(unix:[^:]*:?|[^/?]*)(.*)$/i.exec(url);
  return parts === null ? undefined : { host: parts[1]!, path: parts[2] === '' ? undefined : parts[2] };
}

/** The part of the path that a location matches is replaced by the path of `proxy_pass`, letter for letter. */
export const proxySlash: Rule = {
  name: 'proxy-slash',
  about: 'a proxy_pass with a path and its location where only one ends in a slash',
  *check(top) {
    for (const pass of everything(top)) {
      const match = pass.parent === undefined ? undefined : locationMatch(pass.parent);
      const url = pass.name === 'proxy_pass' ? proxyUrl(pass.args[0] ?? '') : undefined;
      if (!isPrefix(match) || url?.path === undefined || pass.args[0]!.includes('$') || url.path.includes('?')) {
        continue;
      }
      const { pattern } = match;
      if (pattern.endsWith('/') === url.path.endsWith('/') || (pattern === '/' && url.path === '/')) {
        continue;
      }
      const [example, result] = [`${pattern}${pattern.endsWith('/') ? '' : '/'}x`, `${url.path}${pattern.endsWith('/') ? '' : '/'}x`];
      yield {
        at: pass,
        arg: 0,
        problem: `a request for "${example}" asks the backend for "${result}", since only one of location and proxy_pass ends in a slash`,
        remedy: pattern.endsWith('/') ? `proxy_pass ${pass.args[0]}/;` : `location ${pattern}/, or \`proxy_pass\` without a path`,
      };
    }
  },
};

/** A name that is known only when the request comes needs a resolver. */
export const missingResolver: Rule = {
  name: 'missing-resolver',
  about: 'a proxy_pass with a variable for a host name, and no `resolver`',
  *check(top) {
    const groups = new Set([...everything(top)].filter(({ name }) => name === 'upstream').map(({ args }) => args[0]));
    for (const pass of everything(top)) {
      const host = /^(?:proxy|grpc)_pass$/.test(pass.name) ? proxyUrl(pass.args[0] ?? '')?.host : undefined;
      const variable = host === undefined ? undefined : /^\$\{?(\w+)\}?(?::\d+)?$/.exec(host)?.[1];
      if (variable === undefined || pass.parent === undefined || effective(pass.parent, 'resolver').length > 0) {
        continue;
      }
      const values = [...everything(top)]
        .filter(({ name, args }) => name === 'set' && args[0] === `$${variable}`)
        .map(({ args }) => args[1] ?? '');
      const named = values.find((value) => /^[a-z][\w.-]*\.?[\w-]*(?::\d+)?$/i.test(value) && !groups.has(value.replace(/:\d+$/, '')));
      if (named !== undefined) {
        yield {
          at: pass,
          arg: 0,
          problem: `"${named}" is looked up for each request, and without a resolver the answer is 502`,
          remedy: '`resolver ADDRESS;` in the server, with the address of a DNS server, or an `upstream` with the name',
        };
      }
    }
  },
};

/** A backend that the request names lets everybody send requests from inside the network. */
export const openProxy: Rule = {
  name: 'open-proxy',
  about: 'a backend whose host comes from the request, so that a client can reach any server that this one reaches',
  *check(top) {
    for (const pass of everything(top)) {
      const host = pass.name === 'proxy_pass' ? proxyUrl(pass.args[0] ?? '')?.host : undefined;
      const location = enclosing(pass, 'location') ?? pass.parent;
      if (host === undefined || location === undefined || ownDirectives(location, 'internal').length > 0) {
        continue;
      }
      const chosen = /\$\{?(arg_\w+|http_\w+|cookie_\w+|query_string|args)\b/.exec(host)?.[1] ?? capturedHost(host, location);
      if (chosen !== undefined) {
        yield {
          at: pass,
          arg: 0,
          problem: `the client chooses the backend with \`$${chosen}\`, and reaches every server that this one can reach`,
          remedy: 'a `map` from what the client sends to the backends that there are, with a default',
        };
      }
    }
  },
};

/** A capture of the location that is the whole host. */
function capturedHost(host: string, location: LintedDirective): string | undefined {
  const capture = /^\$\{?([1-9])\}?(?::\d+)?$/.exec(host)?.[1];
  return capture !== undefined && /^~/.test(locationMatch(location)?.modifier ?? '') ? capture : undefined;
}
