import { readFileSync, statSync } from 'node:fs';
import { resolvePath } from '../../shared/config/paths.js';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Key } from '../../worker/jose/key.js';
import { type KeySet, readKeySet } from '../../worker/jose/key-set.js';
import type { Rule } from './rule.js';
import { around, effective, everything, type LintedDirective } from './tree.js';

/** Longer files are no sets of keys. */
const MAX_BYTES = 1024 * 1024;
const VARIABLE = /\$\{?(\w+)/g;

/** The variables of a text, in lower case. */
const variablesOf = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name]) => name!.toLowerCase()));

/** The variables that depend on whom a token is for: the claim, and what is made of it. */
function audienceVariables(top: readonly LintedDirective[]): Set<string> {
  const found = new Set(['jwt_claim_aud']);
  for (const { name, args } of everything(top)) {
    if (name === 'auth_jwt_claim_set' && args[1] === 'aud') {
      found.add(args[0]!.slice(1).toLowerCase());
    }
  }
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const { name, args } of everything(top)) {
      const made = name === 'map' || name === 'keyval' ? args[1] : name === 'set' ? args[0] : undefined;
      const from = name === 'set' ? args.slice(1) : args.slice(0, 1);
      if (made?.startsWith('$') && variablesOf(from).some((variable) => found.has(variable))) {
        found.add(made.slice(1).toLowerCase());
      }
    }
  }
  return found;
}

/** A token that the same issuer made for somebody else is as well signed as one for us. */
export const tokenForAnybody: Rule = {
  name: 'token-for-anybody',
  about: '`auth_jwt` without a look at the audience (`aud`): tokens for other applications of the same issuer are accepted',
  *check(top) {
    const audience = audienceVariables(top);
    const looks = ({ name, args }: LintedDirective): boolean =>
      (name === 'auth_jwt_require' || name === 'auth_require' || name === 'if') &&
      variablesOf(args).some((variable) => audience.has(variable));
    for (const directive of everything(top)) {
      const { name, args, parent } = directive;
      if (name !== 'auth_jwt' || args[0] === 'off' || parent === undefined) {
        continue;
      }
      const blocks = [parent, ...around(parent)];
      const scripts = [...everything(parent.inside)].some((one) => one.name === 'js_access' || one.name === 'js_content');
      if (!scripts && !blocks.some((block) => block.inside.some(looks)) && ![...everything(parent.inside)].some(looks)) {
        yield {
          at: directive,
          problem: 'nothing asks whom the token is for: one that the issuer made for another application is accepted here',
          remedy: '`map $jwt_claim_aud $for_us { "our-api" 1; }` and `auth_jwt_require $for_us;`',
        };
      }
    }
  },
};

/** The keys of a file; undefined for one that cannot be read, which the server tells. */
function keysOf(directive: LintedDirective, confPrefix: string): KeySet | undefined {
  const path = directive.args[0] ?? '';
  if (path === '' || path.includes('$')) {
    return undefined;
  }
  try {
    const file = fsPath(resolvePath(path, confPrefix));
    const stat = statSync(file);
    const keys = stat.isFile() && stat.size <= MAX_BYTES ? readKeySet(readFileSync(file)) : undefined;
    return typeof keys === 'string' ? undefined : keys;
  } catch {
    return undefined;
  }
}

const bytesOf = (key: Key): number => key.open.symmetricKeySize ?? 0;
/** What RFC 7518 asks for: as many bytes as the hash has. */
const leastBytes = ({ algorithm = '' }: Key): number => ({ HS384: 48, HS512: 64 })[algorithm] ?? 32;

/** Secrets that can be guessed, and keys in files that should not be there. */
export const weakTokenKey: Rule = {
  name: 'weak-token-key',
  about: 'a file of `auth_jwt_key_file` or `auth_signature_key_file` with a short secret, a private key, or a key that cannot be used',
  *check(top, { confPrefix }) {
    for (const directive of everything(top)) {
      const keys =
        directive.name === 'auth_jwt_key_file' || directive.name === 'auth_signature_key_file' ? keysOf(directive, confPrefix) : undefined;
      if (keys === undefined) {
        continue;
      }
      const jwt = directive.name === 'auth_jwt_key_file';
      const type = (jwt ? effective(directive.parent!, 'auth_jwt_type')[0]?.args[0] : undefined) ?? 'signed';
      const problem = problemOf(keys, type);
      if (problem !== undefined) {
        yield { at: directive, arg: 0, ...problem };
      }
    }
  },
};

function problemOf({ keys, complaints }: KeySet, type: string): { readonly problem: string; readonly remedy: string } | undefined {
  const short = keys.find((key) => key.type === 'oct' && key.mayBeUsedFor('sig') && bytesOf(key) < leastBytes(key) && type !== 'encrypted');
  if (short !== undefined) {
    return {
      problem: `the file has a secret of ${bytesOf(short)} bytes: whoever has one token can try secrets until one fits`,
      remedy: `a random secret of ${leastBytes(short)} bytes at least, as \`openssl rand ${leastBytes(short)} | basenc --base64url\` makes it`,
    };
  }
  if (type === 'signed' && keys.some((key) => key.type !== 'oct' && key.secret !== undefined)) {
    return {
      problem: 'the file has a private key: signatures are checked with the public one',
      remedy: 'take the member `d` and its kin out',
    };
  }
  if (type === 'encrypted' && keys.some((key) => key.type === 'RSA' && key.secret !== undefined)) {
    return {
      problem: 'everybody who has the public key can encrypt a token of his own: nothing says who made it',
      remedy: '`auth_jwt_type nested;`, with tokens that are signed and then encrypted',
    };
  }
  if (keys.some(({ algorithm }) => algorithm === 'none')) {
    return {
      problem: 'the file has a key for the algorithm `none`, which is never used',
      remedy: 'name the algorithm that the issuer signs with',
    };
  }
  return complaints[0] === undefined ? undefined : { problem: complaints[0], remedy: 'take it out, or mend it' };
}

/** Hosts that an `http` URL may name: nobody is between. */
const LOCAL = /^http:\/\/(localhost|127\.[\d.]+|\[::1\])([:/]|$)/i;

/** Keys that anybody on the way can change. */
export const plainTokenKeys: Rule = {
  name: 'plain-token-keys',
  about: '`auth_jwt_key_url http://...`: who is on the way can put keys of his own in',
  *check(top) {
    for (const directive of everything(top)) {
      const [url = ''] = directive.args;
      if (directive.name === 'auth_jwt_key_url' && /^http:/i.test(url) && !LOCAL.test(url)) {
        yield {
          at: directive,
          arg: 0,
          problem: 'the keys come over a connection without TLS: whoever is on the way can put his own in their place',
          remedy: `\`${url.replace(/^http:/i, 'https:')}\``,
        };
      }
    }
  },
};

/** What stands in a URL stands in logs, histories and Referer headers. */
export const tokenInUrl: Rule = {
  name: 'token-in-url',
  about: 'a token or an API key in the query string (`token=$arg_...`), from where it gets into logs',
  *check(top) {
    for (const directive of everything(top)) {
      const arg = directive.args.findIndex((text) => /^(token|key)=\$\{?(arg_|args\b|request_uri\b)/.test(text));
      if ((directive.name === 'auth_jwt' || directive.name === 'auth_api_key') && arg > 0) {
        yield {
          at: directive,
          arg,
          problem: 'what is in the query string gets into access logs, histories and `Referer` headers',
          remedy: 'take it from a header, or from a cookie with `HttpOnly`',
        };
      }
    }
  },
};
