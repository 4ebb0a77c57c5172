import { In } from '../../../shared/config/context.js';
import { inherit, type Scope } from '../../../shared/config/define.js';
import { defaultStatePath } from '../../../shared/config/paths.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { usualIssuer } from '../../acme/read-issuer.js';
import { certificateScope } from '../../acme/scopes.js';
import type { AcmeIssuer, Issuer } from '../../acme/settings.js';
import { sendRedirect } from '../../http/request/redirect.js';
import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import { type Context, defineModule, defineScope, type Module } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';
import { sessionZone } from '../../tls/sessions.js';
import { AUTOMATIC_CERTIFICATE, AUTOMATIC_KEY, type TlsSettings } from '../../tls/settings.js';

/** What `https` says. */
interface HttpsLine {
  /** undefined: it is off. */
  readonly issuer: Issuer | undefined;
  readonly named: string;
  readonly redirect: boolean;
  readonly http3: boolean;
}

interface Settings {
  https: HttpsLine | undefined;
}

/** The settings of other modules that `https` changes. */
export interface HttpsScopes<
  N extends { https: { readonly redirect: boolean; readonly http3: boolean } | null },
  H extends { http2ByDefault: boolean },
> {
  readonly names: Scope<N, ClientTask>;
  readonly tls: Scope<TlsSettings, ClientTask>;
  readonly http2: Scope<H, ClientTask>;
}

const TICKET_ZONE_BYTES = 64 * 1024;

/** The CA that is asked where no issuer is configured; `https auto` agrees to its terms. */
const letsEncrypt = (ctx: Context): AcmeIssuer => ({
  ...usualIssuer('letsencrypt', ctx),
  uri: 'https://acme-v02.api.letsencrypt.org/directory',
  acceptTerms: true,
});

function readLine(ctx: Context): HttpsLine {
  const [mode, ...others] = ctx.node.args as [string, ...string[]];
  let named = '';
  let redirect = true;
  let http3 = false;
  for (const [i, text] of others.entries()) {
    const invalid = (): never => ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    if (text.startsWith('issuer=') && mode === 'auto') {
      named = text.slice('issuer='.length) || invalid();
    } else if (text === 'redirect=on' || text === 'redirect=off') {
      redirect = text === 'redirect=on';
    } else if (text === 'http3=on' || text === 'http3=off') {
      http3 = text === 'http3=on';
    } else {
      invalid();
    }
  }
  switch (mode) {
    case 'auto':
      return { issuer: letsEncrypt(ctx), named, redirect, http3 };
    case 'internal':
      return {
        issuer: { kind: 'internal', name: 'internal', statePath: defaultStatePath('acme_internal', ctx.path('')) },
        named,
        redirect,
        http3,
      };
    case 'off':
      return { issuer: undefined, named, redirect, http3 };
    default:
      return ctx.fail(`invalid value "${mode}" in "https" directive, it must be "auto", "internal" or "off"`, { arg: 0 });
  }
}

/** Sends a request to the same place over TLS. */
const redirectTo =
  (port: number) =>
  (r: Request): Result => {
    if (r.connection.tls !== undefined || r !== r.main) {
      return DECLINED;
    }
    const host = r.head.host === '' ? r.server.conf(nameSlot).serverName : r.head.host;
    return sendRedirect(r, 301, `https://${host}${port === 443 ? '' : `:${port}`}${r.unparsedUri}`);
  };

/** Tells a client that comes over TLS where else the server is, unless somebody else does. */
function tellAlternative(r: Request): Result {
  const { alternative } = r.server.conf(nameSlot);
  if (r === r.main && r.connection.tls !== undefined && alternative !== '' && !r.out.list.some(isAlternative)) {
    r.out.add('Alt-Svc', alternative);
  }
  return OK;
}

const isAlternative = ({ name }: { readonly name: string }): boolean => name.length === 7 && name.toLowerCase() === 'alt-svc';

/**
 * `https`: certificates, a redirect, HTTP/2 and settings for TLS by one directive. The registry hands over the settings of other modules
 * that it changes.
 */
export function makeHttpsModule<
  N extends { https: { readonly redirect: boolean; readonly http3: boolean } | null },
  H extends { http2ByDefault: boolean },
>(scopes: HttpsScopes<N, H>): Module<object, object, Settings, object> {
  return defineModule({
    name: 'https',
    server: defineScope<Settings>({
      fields: { https: inherit<HttpsLine | undefined>(undefined) },
      directives: {
        // Ours. Syntax: https auto [issuer=name] [redirect=on|off] [http3=on|off] | internal [redirect=on|off] [http3=on|off] | off;
        https: {
          in: In.HTTP | In.SERVER,
          args: { min: 1 },
          set(conf, _node, ctx) {
            if (conf.https !== undefined) {
              ctx.reject('is duplicate');
            }
            conf.https = readLine(ctx);
            apply(conf.https, scopes, ctx);
          },
        },
      },
    }),
    location: defineScope<object>({ fields: {}, directives: {} }),
    phases: {
      postRead(_conf, _env, { server }) {
        const { httpsPort } = server.conf(nameSlot);
        return httpsPort === 0 ? undefined : redirectTo(httpsPort);
      },
    },
    headerFilter: (_conf, _env, { server }) => (server.conf(nameSlot).alternative === '' ? undefined : tellAlternative),
  });
}

/** Tells the other modules. */
function apply<N extends { https: { readonly redirect: boolean; readonly http3: boolean } | null }, H extends { http2ByDefault: boolean }>(
  { issuer, named, redirect, http3 }: HttpsLine,
  { names, tls, http2 }: HttpsScopes<N, H>,
  ctx: Context,
): void {
  const on = issuer !== undefined;
  // The tasks of the handshakes of `http` are requests.
  const forTls = (text: string): ComplexValue<ClientTask> => ctx.complex(text) as ComplexValue<ClientTask>;
  (ctx.conf(names) as Partial<Pick<N, 'https'>>).https = on ? ({ redirect, http3 } as N['https']) : (null as N['https']);
  (ctx.conf(http2) as { http2ByDefault?: boolean }).http2ByDefault = on;
  ctx.conf(certificateScope).automatic = issuer === undefined ? null : { issuer: named, fallback: issuer };
  ctx.conf(tls).automatic = on
    ? {
        pos: ctx.node.pos,
        certificate: forTls(AUTOMATIC_CERTIFICATE),
        key: forTls(AUTOMATIC_KEY),
        ticketZone: ctx.zone(sessionZone, ' ssl tickets', { bytes: TICKET_ZONE_BYTES, data: undefined }),
      }
    : null;
}
