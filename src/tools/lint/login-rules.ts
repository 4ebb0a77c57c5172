import { statSync } from 'node:fs';
import { parseTime } from '../../shared/config/language/units.js';
import { resolvePath } from '../../shared/config/paths.js';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Rule } from './rule.js';
import { effective, everything, type LintedDirective, ownDirectives } from './tree.js';

/** The value of a line of a provider's block. */
const said = (provider: LintedDirective, name: string): string | undefined => ownDirectives(provider, name)[0]?.args[0];

function* providersOf(top: readonly LintedDirective[]): Generator<LintedDirective> {
  for (const directive of everything(top)) {
    if (directive.name === 'oidc_provider') {
      yield directive;
    }
  }
}

/** Bits of a mode that let everybody read a file. */
const OTHERS = 0o004;

function isOpen(path: string): boolean {
  try {
    const stat = statSync(fsPath(path));
    return stat.isFile() && (stat.mode & OTHERS) !== 0;
  } catch {
    return false;
  }
}

/** Lines with files that hold secrets. */
const SECRET_FILES: ReadonlySet<string> = new Set(['session_key', 'decryption_key', 'private_key_jwt']);

/** Secrets that every user of the machine can read. */
export const readableSecret: Rule = {
  name: 'readable-secret',
  about: "a provider's `client_secret` or keys in a file that every user of the machine can read",
  *check(top, { confPrefix }) {
    for (const provider of providersOf(top)) {
      for (const line of provider.inside) {
        const inConf = line.name === 'client_secret' && isOpen(line.node.pos.file);
        const inFile = SECRET_FILES.has(line.name) && isOpen(resolvePath(line.args[0] ?? '', confPrefix));
        if (inConf || inFile) {
          const file = inConf ? line.node.pos.file : line.args[0]!;
          yield {
            at: line,
            ...(inFile ? { arg: 0 } : {}),
            problem: `everybody on this machine can read "${file}", and log in as this server at the provider, or open its sessions`,
            remedy: inConf ? `\`chmod o-r ${file}\`, or \`include\` the line from a file that others cannot read` : `\`chmod o-r ${file}\``,
          };
        }
      }
    }
  },
};

/** PKCE binds a code to the browser that asked for it, whatever else is wrong. */
export const loginWithoutPkce: Rule = {
  name: 'login-without-pkce',
  about: '`pkce off` in an `oidc_provider`',
  *check(top) {
    for (const provider of providersOf(top)) {
      const [pkce] = ownDirectives(provider, 'pkce');
      if (pkce?.args[0]?.toLowerCase() === 'off') {
        const open = said(provider, 'client_secret') === undefined && said(provider, 'private_key_jwt') === undefined;
        yield {
          at: pkce,
          problem: open
            ? 'without PKCE and without a secret, whoever sees a code of the provider can log in with it'
            : 'without PKCE, a code that got into other hands is as good as the login itself',
          remedy: 'leave the line out: PKCE is used wherever the provider knows it',
        };
      }
    }
  },
};

const LOCAL_LISTEN = /^(?:unix:|127\.|localhost\b|\[::1\])/;

/** Servers whose logins are by one provider. */
function* serversWith(top: readonly LintedDirective[], provider: string): Generator<LintedDirective> {
  for (const server of everything(top)) {
    if (server.name !== 'server' || server.inside.length === 0) {
      continue;
    }
    const names = [server, ...everything(server.inside)]
      .filter(({ name }) => name === 'server' || name === 'location')
      .flatMap((block) => effective(block, 'auth_oidc'));
    if (names.some(({ args }) => args[0] === provider)) {
      yield server;
    }
  }
}

/** Cookies of sessions over connections that anybody can listen to. */
export const loginWithoutTls: Rule = {
  name: 'login-without-tls',
  about: '`auth_oidc` on a server without TLS: cookies are sent in the clear, and without `Secure`',
  *check(top) {
    for (const provider of providersOf(top)) {
      if (!(said(provider, 'redirect_uri') ?? '/').startsWith('/')) {
        // A proxy before this server ends TLS.
        continue;
      }
      for (const server of serversWith(top, provider.args[0] ?? '')) {
        const listens = ownDirectives(server, 'listen');
        const plain = listens.find(({ args }) => !LOCAL_LISTEN.test(args[0] ?? '') && !args.includes('ssl') && !args.includes('quic'));
        const https = ownDirectives(server, 'https').some(({ args }) => args[0] !== 'off');
        if (!https && (plain !== undefined || listens.length === 0)) {
          yield {
            at: plain ?? server,
            problem: `the sessions of "${provider.args[0]}" are sent over connections without TLS, where everybody on the way can take them over`,
            remedy: '`https auto;` or `listen ... ssl`; behind a proxy that ends TLS, the whole `https` address as `redirect_uri`',
          };
        }
      }
    }
  },
};

/** The host of a URL, without its port. */
const hostOf = (url: string): string => /^https?:\/\/(\[[^\]]*\]|[^/:?]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';

function hasName(server: LintedDirective, host: string): boolean {
  const names = ownDirectives(server, 'server_name').flatMap(({ args }) => args.map((name) => name.toLowerCase()));
  return (
    names.length === 0 ||
    names.some(
      (name) =>
        name === host ||
        name === '' ||
        name === '_' ||
        name.startsWith('~') ||
        (name.includes('*') || name.startsWith('.') ? matches(name, host) : false),
    )
  );
}

function matches(name: string, host: string): boolean {
  if (name.startsWith('.')) {
    return host === name.slice(1) || host.endsWith(name);
  }
  return name.startsWith('*') ? host.endsWith(name.slice(1)) : host.startsWith(name.slice(0, -1));
}

/** Cookies of one host never come to another. */
export const loginOnOtherHost: Rule = {
  name: 'login-on-other-host',
  about: '`redirect_uri` with a host that no server with this login has: browsers come back where their cookies are not',
  *check(top) {
    for (const provider of providersOf(top)) {
      const [line] = ownDirectives(provider, 'redirect_uri');
      const uri = line?.args[0] ?? '/';
      const servers = uri.startsWith('/') ? [] : [...serversWith(top, provider.args[0] ?? '')];
      if (servers.length > 0 && !servers.some((server) => hasName(server, hostOf(uri)))) {
        yield {
          at: line!,
          arg: 0,
          problem: `no server with "auth_oidc ${provider.args[0]}" is called "${hostOf(uri)}", and cookies belong to a host: no login ends`,
          remedy: 'the host that browsers show, as `server_name` has it, or a path alone',
        };
      }
    }
  },
};

/** The address that a provider's users come back to. */
const backOf = (provider: LintedDirective): string => said(provider, 'redirect_uri') ?? '/oidc_callback';

/** One provider can be made to send its codes to another, if both lead back to one address and do not say who they are. */
export const sharedRedirect: Rule = {
  name: 'shared-redirect',
  about: 'two providers with one `redirect_uri`: a bad one can have the codes of the other sent to itself',
  *check(top) {
    const seen = new Map<string, LintedDirective>();
    for (const provider of providersOf(top)) {
      const back = backOf(provider);
      const first = seen.get(back);
      if (first !== undefined) {
        yield {
          at: provider,
          arg: 0,
          problem: `"${first.args[0]}" leads browsers back to "${back}", too: unless both say who they are (RFC 9207), one can get at the codes of the other`,
          remedy: `\`redirect_uri /oidc_callback_${provider.args[0]};\`, here and at the provider`,
        };
      }
      seen.set(back, first ?? provider);
    }
  },
};

const MONTH = 30 * 24 * 3_600_000;

/** Sessions that nobody ends. */
export const longLogin: Rule = {
  name: 'long-login',
  about: '`session_timeout` of more than 30 days: who was removed at the provider stays logged in here',
  *check(top) {
    for (const provider of providersOf(top)) {
      const [line] = ownDirectives(provider, 'session_timeout');
      if (line !== undefined && (parseTime(line.args[0] ?? '', 'ms') ?? 0) > MONTH) {
        yield {
          at: line,
          arg: 0,
          problem: 'without refresh tokens nobody asks the provider before, whether the user may still come in',
          remedy: 'some hours, with `scope ... offline_access` for those who stay: each refresh makes the session last as long again',
        };
      }
    }
  },
};

/** Users of any organization. */
export const loginOfAnyTenant: Rule = {
  name: 'login-of-any-tenant',
  about: "Entra ID's `common` or `organizations` without a look at the tenant: everybody with an account anywhere gets in",
  *check(top) {
    const looked = [...everything(top)].some(({ args }) => args.some((text) => /\$\{?oidc_claim_tid\b/.test(text)));
    for (const provider of providersOf(top)) {
      const [issuer] = ownDirectives(provider, 'issuer');
      if (!looked && /\/(?:common|organizations)\/v2\.0$/.test(issuer?.args[0] ?? '')) {
        yield {
          at: issuer!,
          arg: 0,
          problem: 'everybody who has an account at any organization can log in',
          remedy:
            '`map $oidc_claim_tid $ours { 11111111-...  1; }` and `auth_require $ours;`, or the id of your tenant as part of the issuer',
        };
      }
    }
  },
};

/** Bytes of a secret that a signature by it asks for (RFC 7518, section 3.2). */
const LEAST: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 };

/** Secrets that tokens show to whoever tries long enough. */
export const shortClientSecret: Rule = {
  name: 'short-client-secret',
  about: 'a short `client_secret` that ID tokens are signed with (`id_token_signed_response_alg HS256`)',
  *check(top) {
    for (const provider of providersOf(top)) {
      const least = LEAST[said(provider, 'id_token_signed_response_alg') ?? ''] ?? 0;
      const [secret] = ownDirectives(provider, 'client_secret');
      if (secret !== undefined && (secret.args[0] ?? '').length < least) {
        yield {
          at: secret,
          problem: `the secret has ${secret.args[0]!.length} bytes: whoever has one ID token can try secrets until one fits, and make tokens of his own`,
          remedy: `a random secret of ${least} bytes at least, or tokens that are signed with a public key`,
        };
      }
    }
  },
};

/** What a signature leaves open, somebody on the way can change. */
export const looseSignature: Rule = {
  name: 'loose-signature',
  about: '`auth_signature_components` that leave out the method, the path or the body',
  *check(top) {
    for (const line of everything(top)) {
      if (line.name !== 'auth_signature_components') {
        continue;
      }
      const has = (...names: readonly string[]): boolean => names.some((name) => line.args.includes(name));
      const open = [
        ...(has('@method') ? [] : ['the method']),
        ...(has('@path', '@target-uri', '@request-target') ? [] : ['the path']),
        ...(has('content-digest') ? [] : ['the body']),
      ];
      if (open.length > 0) {
        yield {
          at: line,
          problem: `whoever is on the way can change ${open.join(', ')} of a signed request`,
          remedy: '`auth_signature_components @method @authority @path @query content-digest;`, which is the default, and more',
        };
      }
    }
  },
};
