import type { Rule } from './rule.js';
import { effective, everything, type LintedDirective, ownDirectives } from './tree.js';

const servers = (top: readonly LintedDirective[]): LintedDirective[] =>
  [...everything(top)].filter(({ name, parent }) => name === 'server' && parent?.name === 'http');

const endpoint = (listen: string): string => (/^\d+$/.test(listen) ? `*:${listen}` : listen.replace(/^0\.0\.0\.0:/, '*:'));

/** Without a default server the first one answers for names that nobody configured. */
export const noDefaultServer: Rule = {
  name: 'no-default-server',
  about: 'an address with several named servers and no default_server',
  *check(top) {
    const byAddress = new Map<string, { readonly listen: LintedDirective | undefined; readonly server: LintedDirective }[]>();
    for (const server of servers(top)) {
      const listens = ownDirectives(server, 'listen');
      for (const listen of listens.length === 0 ? [undefined] : listens) {
        const address = endpoint(listen?.args[0] ?? '80');
        byAddress.set(address, [...(byAddress.get(address) ?? []), { listen, server }]);
      }
    }
    for (const [address, uses] of byAddress) {
      const first = uses[0]!;
      const names = ownDirectives(first.server, 'server_name').flatMap(({ args }) => args);
      const chosen = uses.some(({ listen }) => listen?.args.some((arg) => arg === 'default_server' || arg === 'default'));
      const catches = names.length === 0 || names.some((name) => name === '_' || name === '' || name === 'localhost');
      if (uses.length > 1 && !chosen && !catches && uses.some(({ server }) => server !== first.server)) {
        yield {
          at: first.listen ?? first.server,
          problem: `requests to ${address} with any other host name are answered by this server, only because it is the first`,
          remedy: `\`listen ${first.listen?.args[0] ?? '80'} default_server;\` here, or in a server of its own with \`return 444;\``,
        };
      }
    }
  },
};

/** A name with a scheme, a port or a path never matches. */
export const oddServerName: Rule = {
  name: 'odd-server-name',
  about: 'a server_name with a scheme, a port or a path, which never matches',
  *check(top) {
    for (const directive of servers(top).flatMap((server) => ownDirectives(server, 'server_name'))) {
      for (const [arg, name] of directive.args.entries()) {
        if (!name.startsWith('~') && !name.includes('$') && /[/:,]/.test(name) && !/^\[.*\]$/.test(name)) {
          yield {
            at: directive,
            arg,
            problem: `"${name}" is compared with the name in the Host header, which has no scheme, no path and no port here`,
            remedy: `server_name ${name.replace(/^\w+:\/\//, '').replace(/[/:,].*$/, '') || 'example.com'};`,
          };
        }
      }
    }
  },
};

/** Port 443 without `ssl` answers TLS clients with 400 or rubbish. */
export const plainHttps: Rule = {
  name: 'plain-443',
  about: 'a server on port 443 that has a certificate and does not speak TLS',
  *check(top) {
    for (const server of servers(top)) {
      for (const listen of ownDirectives(server, 'listen')) {
        const secure =
          listen.args.some((arg) => arg === 'ssl' || arg === 'quic') || ownDirectives(server, 'ssl').some(({ args }) => args[0] === 'on');
        const here = listen.args[0] ?? '';
        const shared = servers(top).some((other) =>
          ownDirectives(other, 'listen').some(({ args }) => args[0] === here && args.includes('ssl')),
        );
        if (/(?:^|:)443$/.test(here) && !secure && !shared && effective(server, 'ssl_certificate').length > 0) {
          yield {
            at: listen,
            problem: 'the port is that of HTTPS and there is a certificate, yet it speaks plain HTTP',
            remedy: `listen ${here} ssl;`,
          };
        }
      }
    }
  },
};

const WEAK_PROTOCOLS = ['SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1'];
const WEAK_CIPHERS = /^(?:.*-)?(?:RC4|DES|3DES|NULL|eNULL|aNULL|ADH|AECDH|EXP|EXPORT\d*|MD5|LOW|SEED|IDEA|RC2)(?:-.*)?$/;

/** Protocols that browsers and RFC 8996 gave up, and ciphers that are broken. */
export const weakTls: Rule = {
  name: 'weak-tls',
  about: 'TLS 1.1 and older, or ciphers that are broken',
  *check(top) {
    for (const directive of everything(top)) {
      if (/^(?:proxy_|grpc_|uwsgi_)?ssl_protocols$/.test(directive.name)) {
        const weak = directive.args.filter((arg) => WEAK_PROTOCOLS.includes(arg));
        if (weak.length > 0) {
          yield {
            at: directive,
            arg: directive.args.indexOf(weak[0]!),
            problem: `${weak.join(', ')} ${weak.length === 1 ? 'is' : 'are'} no longer safe (RFC 8996), and no browser needs ${weak.length === 1 ? 'it' : 'them'}`,
            remedy: `${directive.name} TLSv1.2 TLSv1.3;`,
          };
        }
      } else if (directive.name === 'ssl_ciphers') {
        const weak = (directive.args[0] ?? '').split(/[:, ]/).filter((cipher) => !/^[!+-]/.test(cipher) && WEAK_CIPHERS.test(cipher));
        const excluded = weak.filter(
          (cipher) => !(directive.args[0] ?? '').includes(`!${cipher.split('-').find((part) => WEAK_CIPHERS.test(part))}`),
        );
        if (excluded.length > 0) {
          yield {
            at: directive,
            arg: 0,
            problem: `${excluded[0]} can be broken`,
            remedy: 'leave `ssl_ciphers` out: the default has no weak ones, or `include snippets/tls.conf;`',
          };
        }
      }
    }
  },
};
