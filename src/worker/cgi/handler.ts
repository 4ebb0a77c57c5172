import { makeLocationCache } from '../cache/location-cache.js';
import type { WorkerEnv } from '../env.js';
import type { LocationRuntime } from '../http/request/http-runtime.js';
import { leavesRoot } from '../http/request/map-path.js';
import type { PhaseHandler } from '../http/request/phase-handler.js';
import type { Request } from '../http/request/request.js';
import { DONE, type Result } from '../task/codes.js';
import { completeSettings } from '../upstream/directives/directives.js';
import type { Exchange } from '../upstream/exchange/exchange.js';
import { passRequest } from '../upstream/exchange/pass-request.js';
import type { UpstreamTls } from '../upstream/exchange/tls.js';
import type { UpstreamConf } from '../upstream/exchange/upstream-conf.js';
import { noBackend, UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { groupsOf } from '../upstream/group/groups.js';
import { HeaderKinds } from '../upstream/response/header-kinds.js';
import { type BackendPass, evaluateBackend } from './backend-pass.js';
import { CACHE_PARAMS, type CompiledParams, compileParams, encodeParams, type ParamEncoding } from './params.js';
import type { CgiFamily, CgiSettings } from './settings.js';

/** Headers of uwsgi responses that clients do not get. nginx: ngx_http_uwsgi_hide_headers. */
export const HIDDEN_BY_UWSGI = [
  'X-Accel-Expires',
  'X-Accel-Redirect',
  'X-Accel-Limit-Rate',
  'X-Accel-Buffering',
  'X-Accel-Charset',
] as const;

/** Headers of the other responders that clients do not get. nginx: ngx_http_fastcgi_hide_headers. */
export const HIDDEN_BY_CGI = ['Status', ...HIDDEN_BY_UWSGI] as const;

/** The parameters of a location's requests, compiled. */
export class RequestParams {
  readonly #plain: CompiledParams;
  /** The parameters of requests whose responses are cached. */
  readonly #cached: CompiledParams | undefined;
  readonly #headers: boolean;
  readonly #encoding: ParamEncoding;

  /** `encoding` says how the protocol writes a parameter. */
  constructor(settings: Readonly<CgiSettings>, location: LocationRuntime, encoding: ParamEncoding) {
    const { variables } = location.server.http;
    this.#encoding = encoding;
    this.#plain = compileParams(settings.params, variables, encoding);
    this.#cached = settings.cache === null ? undefined : compileParams(settings.params, variables, encoding, CACHE_PARAMS);
    this.#headers = settings.passRequestHeaders;
  }

  /** All parameters of a request, in the order in which they are sent. */
  text(u: UpstreamRequest): string {
    return encodeParams(u.r, u.cacheable && this.#cached !== undefined ? this.#cached : this.#plain, this.#headers, this.#encoding);
  }
}

/** What a protocol for application servers brings along. */
export interface CgiProtocol {
  readonly family: CgiFamily;
  readonly settings: Readonly<CgiSettings>;
  readonly pass: BackendPass;
  readonly hidden: readonly string[];
  /** A body of unknown length can be passed on while it comes. */
  readonly chunkedBodies: boolean;
  /** How connections are made whose address asks for TLS. */
  readonly tls?: UpstreamTls | undefined;
  exchange(r: Request): Exchange;
}

/** The key that is used where `*_cache_key` gives none. */
const noKey = (): string => '';

/** Makes the content handler of a location whose requests go to an application server. nginx: ngx_http_fastcgi_handler. */
export function cgiHandler(env: WorkerEnv, location: LocationRuntime, protocol: CgiProtocol): PhaseHandler {
  const { family, settings, pass, hidden, chunkedBodies } = protocol;
  const conf: UpstreamConf = {
    module: family,
    settings: completeSettings(settings),
    kinds: new HeaderKinds(hidden, settings.hideHeaders, settings.passHeaders),
    // Responders rarely send Server and Date; unlike a proxy's clients, theirs get our own then.
    passServer: false,
    passDate: false,
    rewriter: undefined,
    changeBuffering: true,
    passInterim: true,
    intercept404: false,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: protocol.tls,
    cache: makeLocationCache(family, settings, noKey, location.server.http, env),
  };
  const { fixed, dynamic, tls, schemes } = pass;
  const plain = `${family}://`;
  const schema = tls ? `s${plain}` : plain;
  const group = fixed === undefined ? undefined : groupsOf(location.server.http).find(fixed.host, fixed.port, fixed.noPort);
  const unbuffered = !settings.requestBuffering && settings.passRequestBody;
  return (r: Request): Result => {
    if (r.location !== location) {
      return noBackend(r);
    }
    // The application server opens the file that the parameters name.
    if (leavesRoot(r)) {
      return 404;
    }
    const u = new UpstreamRequest(r, conf, protocol.exchange(r));
    u.attach();
    if (dynamic === undefined) {
      u.passTo(schema, tls, group);
    } else {
      const evaluated = evaluateBackend(r, dynamic.eval(r), schemes);
      if (evaluated === undefined) {
        return 500;
      }
      u.passToNamed(evaluated.schema ?? plain, evaluated.tls, evaluated.target);
    }
    passRequest(r, u, unbuffered && (chunkedBodies || !r.chunkedIn));
    return DONE;
  };
}
