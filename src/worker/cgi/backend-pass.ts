import { ERROR, type Level } from '../../shared/log/level.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import { type BackendUrl, parseBackendUrl } from '../address/backend-url.js';
import type { LocationInfo } from '../http/request/location-info.js';
import type { Request } from '../http/request/request.js';
import { type Context, claimContent } from '../module.js';
import { type Declaration, declareGroup } from '../upstream/group/group-config.js';
import type { ResolvedTarget } from '../upstream/group/resolve-target.js';

/** What may stand before an address, in any case. */
export interface BackendScheme {
  readonly text: string;
  readonly tls: boolean;
}

/** A `fastcgi_pass` line, or that of a kindred protocol: an address or a group, without a path. */
export interface BackendPass {
  readonly dynamic: ComplexValue<Request> | undefined;
  readonly fixed: Declaration | undefined;
  /** The fixed address as a client of it would name it; `localhost` for a unix socket. */
  readonly host: string;
  /** Connections to the fixed backend are TLS. */
  readonly tls: boolean;
  /** What the protocol knows before an address; most know nothing. */
  readonly schemes: readonly BackendScheme[];
}

/** Reads an address; `module` is the content handler that the location gets. nginx: ngx_http_fastcgi_pass. */
export function readBackendPass(ctx: Context, module: string, schemes: readonly BackendScheme[] = []): BackendPass {
  claimContent(ctx, module);
  const info = ctx.block.info as LocationInfo;
  const text = ctx.node.args[0]!;
  // An address of memcached has no variables: nginx takes "$" for a part of the host's name.
  const dynamic = module !== 'memcached' && text.includes('$') ? ctx.complex(text) : undefined;
  // Where the address has variables, nginx's modules for uwsgi and SCGI return before they look at the location's name.
  const looks = dynamic === undefined || module === 'fastcgi' || module === 'grpc';
  if (looks && info.name.endsWith('/') && info.kind !== 'nameless') {
    info.autoRedirect = true;
  }
  if (dynamic !== undefined) {
    return { dynamic, fixed: undefined, host: '', tls: false, schemes };
  }
  const scheme = schemeOf(text, schemes);
  const address = text.slice(scheme?.text.length);
  const url = parseBackendUrl(address, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    return ctx.fail(`${url} in upstream "${address}"`, { arg: 0 });
  }
  return { dynamic, fixed: declareGroup(ctx, url.host, url), host: hostOf(url), tls: scheme?.tls ?? false, schemes };
}

function hostOf({ family, host, noPort, portText }: BackendUrl): string {
  if (family === 'unix') {
    return 'localhost';
  }
  return noPort ? host : `${host}:${portText}`;
}

const schemeOf = (text: string, schemes: readonly BackendScheme[]): BackendScheme | undefined =>
  schemes.length === 0 ? undefined : schemes.find((known) => text.slice(0, known.text.length).toLowerCase() === known.text);

/** Whether connections to the backend may need TLS. nginx: conf->ssl. */
export const mayUseTls = (pass: BackendPass): boolean =>
  pass.tls || (pass.dynamic !== undefined && pass.schemes.some((scheme) => scheme.tls));

/** The value of an address with variables for one request. */
export interface EvaluatedBackend {
  /** As written; undefined when there is none. */
  readonly schema: string | undefined;
  readonly tls: boolean;
  /** As {@link BackendPass.host}. */
  readonly host: string;
  readonly target: ResolvedTarget;
}

/**
 * Evaluates an address with variables. Returns undefined, with the reason logged at `level`, for one that is malformed. nginx:
 * ngx_http_fastcgi_eval.
 */
export function evaluateBackend(
  r: Request,
  given: string,
  schemes: readonly BackendScheme[],
  level: Level = ERROR,
): EvaluatedBackend | undefined {
  const found = schemeOf(given, schemes);
  const scheme = found !== undefined && found.text.length < given.length ? found : undefined;
  const size = scheme === undefined ? 0 : scheme.text.length;
  const text = given.slice(size);
  const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    r.log(level, `${url} in upstream "${text}"`);
    return undefined;
  }
  const unix = url.family === 'unix';
  return {
    schema: scheme === undefined ? undefined : given.slice(0, size),
    tls: scheme?.tls ?? false,
    host: hostOf(url),
    target: { host: url.host, port: unix ? 0 : url.port, noPort: url.noPort, unix, address: url.address },
  };
}
