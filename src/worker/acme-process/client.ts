// The only file that imports acme-client, and Node's client for HTTPS, which that package works with: nothing here is on the way of
// a request. It is loaded with the first word to a CA, since that takes some 150 ms.
import type { Agent } from 'node:https';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import type * as AcmeClientPackage from 'acme-client';
import type { Identifier } from '../acme/identifier.js';
import type { AcmeIssuer } from '../acme/settings.js';
import { VERIFY_NUMBERS } from '../tls/verify.js';
import { SERVER_VERSION } from '../version.js';
import { checkUrl } from './ca-words.js';
import { AcmeProblem, caWords, Unreachable } from './problem.js';

/** A CA's directory, as far as it matters here. */
export interface Directory {
  readonly renewalInfo?: string;
  readonly meta?: {
    readonly termsOfService?: string;
    readonly externalAccountRequired?: boolean;
    readonly profiles?: Readonly<Record<string, string>>;
  };
}

/** An order at the CA. */
export interface RemoteOrder {
  readonly url: string;
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly authorizations?: readonly string[];
  readonly finalize: string;
  readonly certificate?: string;
  readonly error?: { readonly type?: string; readonly detail?: string };
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: 'pending' | 'processing' | 'valid' | 'invalid';
  readonly error?: { readonly type?: string; readonly detail?: string };
}

/** What the CA wants to know about one identifier. */
export interface Authorization {
  readonly status: string;
  readonly identifier: Identifier;
  readonly challenges: readonly Challenge[];
  readonly wildcard?: boolean;
}

/** When a CA wants a certificate renewed (RFC 9773). Times are milliseconds. */
export interface RenewalInfo {
  readonly start: number;
  readonly end: number;
  readonly explanation: string | undefined;
  /** After how long to ask again. */
  readonly askAgain: number;
}

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: what CAs send
  readonly data: any;
}

/** The parts of the package's client that its types leave out. */
interface Innards {
  readonly http: {
    request(url: string, method: string, options?: object): Promise<Response>;
    getDirectory(): Promise<Directory>;
  };
  readonly api: {
    createAccount(data: object): Promise<Response>;
    getAuthorization(url: string): Promise<Response>;
    getOrder(url: string): Promise<Response>;
  };
}

const HOUR = 3600 * 1000;
const MINUTE = 60 * 1000;
/** Milliseconds for one request. */
const TIMEOUT = MINUTE;
const MAX_RESPONSE = 1024 * 1024;
const MAX_REDIRECTS = 10;
const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce';

let loaded: typeof AcmeClientPackage | undefined;

/** The package. Its files may be out of reach of the user that the process becomes: who may need it loads it before. */
export function acmePackage(): typeof AcmeClientPackage {
  if (loaded === undefined) {
    loaded = createRequire(import.meta.url)('acme-client') as typeof AcmeClientPackage;
    loaded.axios.defaults.headers.common['User-Agent'] = SERVER_VERSION;
    // When to try again is decided elsewhere, for all orders of an issuer together. The package's own repeats also lose what went wrong.
    loaded.axios.interceptors.request.eject(0);
    loaded.axios.interceptors.response.eject(0);
  }
  return loaded;
}

/** Makes a request for a certificate, in PEM, with the key that it is for. */
export async function makeCertificateRequest(identifiers: readonly Identifier[], commonName: boolean, key: string): Promise<Buffer> {
  const altNames = identifiers.map(({ value }) => value);
  const first = identifiers.find(({ type }) => type === 'dns') ?? identifiers[0]!;
  const [, request] = await acmePackage().crypto.createCsr({ altNames, ...(commonName ? { commonName: first.value } : {}) }, key);
  return request;
}

/** Makes the certificate that answers a challenge by TLS-ALPN-01, in PEM. */
export async function makeChallengeCertificate(identifier: Identifier, keyAuthorization: string, key: string): Promise<string> {
  const authorization = { identifier } as unknown as AcmeClientPackage.Authorization;
  const [, certificate] = await acmePackage().crypto.createAlpnCertificate(authorization, keyAuthorization, key);
  return certificate.toString();
}

/**
 * Speaks ACME with the CA of one issuer. Methods reject with {@link AcmeProblem}, {@link Unreachable}, or an Error for what is malformed.
 */
export class CaClient {
  readonly #issuer: AcmeIssuer;
  readonly #client: AcmeClientPackage.Client & Innards;
  readonly #agent: Agent;
  readonly #abort = new AbortController();

  constructor(issuer: AcmeIssuer, accountKey: string, lookup: LookupFunction | undefined) {
    this.#issuer = issuer;
    this.#agent = new (process.getBuiltinModule('node:https').Agent)({
      keepAlive: true,
      rejectUnauthorized: issuer.verify,
      ...(issuer.authorities === undefined ? {} : { ca: issuer.authorities }),
      ...(lookup === undefined ? {} : { lookup }),
    });
    const { externalAccount } = issuer;
    this.#client = new (acmePackage().Client)({
      directoryUrl: issuer.uri,
      accountKey,
      ...(externalAccount === undefined ? {} : { externalAccountBinding: { kid: externalAccount.kid, hmacKey: externalAccount.key } }),
    }) as unknown as AcmeClientPackage.Client & Innards;
    const { http } = this.#client;
    const request = http.request.bind(http);
    http.request = (url, method, options) => this.#request(request, url, method, options);
  }

  /** Gives up whatever is under way. */
  close(): void {
    this.#abort.abort();
    this.#agent.destroy();
  }

  directory(): Promise<Directory> {
    return this.#client.http.getDirectory();
  }

  /** Finds the account of the key, or makes one. */
  async register(): Promise<{ readonly url: string; readonly created: boolean }> {
    const { contacts, acceptTerms } = this.#issuer;
    const { status, headers } = await this.#client.api.createAccount({
      ...(acceptTerms ? { termsOfServiceAgreed: true } : {}),
      contact: contacts,
    });
    if (headers.location === undefined) {
      throw new Error('no account URL in response');
    }
    return { url: headers.location, created: status === 201 };
  }

  newOrder(identifiers: readonly Identifier[], profile: string | undefined, replaces: string | undefined): Promise<RemoteOrder> {
    const request = { identifiers: [...identifiers], ...(profile && { profile }), ...(replaces && { replaces }) };
    return this.#client.createOrder(request) as Promise<unknown> as Promise<RemoteOrder>;
  }

  async order(url: string): Promise<RemoteOrder> {
    return { ...(await this.#client.api.getOrder(url)).data, url };
  }

  async authorization(url: string): Promise<Authorization> {
    return (await this.#client.api.getAuthorization(url)).data;
  }

  /** What the CA wants to find as the answer to a challenge; for DNS-01 its digest. */
  keyAuthorization(challenge: Challenge): Promise<string> {
    return this.#client.getChallengeKeyAuthorization(challenge as never);
  }

  /** Tells the CA that the answer is there. */
  async ready(challenge: Challenge): Promise<void> {
    await this.#client.completeChallenge(challenge as never);
  }

  finalize(order: RemoteOrder, request: Buffer): Promise<RemoteOrder> {
    return this.#client.finalizeOrder(order as never, request) as Promise<unknown> as Promise<RemoteOrder>;
  }

  /** The certificate of a finished order with its chain, in PEM. */
  async certificate(order: RemoteOrder): Promise<string> {
    const { preferredChain } = this.#issuer;
    const chain: unknown = await this.#client.getCertificate(order as never, preferredChain === '' ? undefined : preferredChain);
    if (typeof chain !== 'string') {
      throw new Error('no certificate in the completed order');
    }
    return chain;
  }

  /** `id` names the certificate as RFC 9773 does; `base` is from the directory. */
  async renewalInfo(base: string, id: string): Promise<RenewalInfo> {
    const { data, headers } = await this.#client.http.request(`${base}/${id}`, 'get');
    const [start, end] = [Date.parse(data?.suggestedWindow?.start), Date.parse(data?.suggestedWindow?.end)];
    if (!(start < end)) {
      throw new Error('invalid renewal window');
    }
    const askAgain = Math.min(Math.max(retryAfter(headers['retry-after']) ?? 12 * HOUR, MINUTE), 24 * HOUR);
    return { start, end, explanation: typeof data.explanationURL === 'string' ? caWords(data.explanationURL) : undefined, askAgain };
  }

  async #request(send: Innards['http']['request'], url: string, method: string, options: object = {}): Promise<Response> {
    const { uri } = this.#issuer;
    checkUrl(url, uri);
    const beforeRedirect = ({ href }: { readonly href?: string }): void => checkUrl(href, uri);
    const ours = { beforeRedirect, httpsAgent: this.#agent, proxy: false, timeout: TIMEOUT, signal: this.#abort.signal };
    let response: Response;
    try {
      response = await send(url, method, { ...options, ...ours, maxRedirects: MAX_REDIRECTS, maxContentLength: MAX_RESPONSE });
    } catch (error) {
      throw new Unreachable(reason(error as NodeJS.ErrnoException, url));
    }
    const { status, headers, data } = response;
    // The package repeats a request whose nonce was not taken.
    if (status < 400 || data?.type === BAD_NONCE) {
      return response;
    }
    throw new AcmeProblem(status, String(data?.type ?? ''), String(data?.detail ?? ''), retryAfter(headers['retry-after']));
  }
}

/** Milliseconds. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) {
    return undefined;
  }
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** What keeps a request from being answered, in nginx's words where it has some. */
function reason(error: NodeJS.ErrnoException, url: string): string {
  const { code = '' } = error;
  const number = VERIFY_NUMBERS[code];
  const { host, hostname } = new URL(url);
  if (number !== undefined) {
    return `upstream SSL certificate verify error: (${number}:${error.message})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `upstream SSL certificate does not match "${hostname}"`;
  }
  return `${caWords(error.message || code)} while connecting to ${host}`;
}
