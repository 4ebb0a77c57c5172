import type { X509Certificate } from 'node:crypto';
import { ERROR } from '../../shared/log/level.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { resolverSlot } from '../task/resolver-slot.js';
import type { Identity } from './identity.js';
import { fetchOcsp, parseResponder, type Responder, responderUrl } from './ocsp-fetch.js';
import { certificateId, OcspError, type OcspTrust, ocspRequest, readOcspResponse } from './ocsp-message.js';
import type { TlsSettings } from './settings.js';
import type { TlsRoot } from './tls-address.js';

/** A response is asked for again this long before it runs out, and after a failure; seconds. */
const SOON = 300;
/** A response is asked for again after this time at the latest; seconds. */
const OFTEN = 3600;

/** What is needed to ask for the status of one of a server's certificates. */
export interface StapleSource {
  readonly certificate: X509Certificate;
  readonly issuer: X509Certificate;
  readonly responder: Responder;
  readonly trust: OcspTrust;
}

/**
 * Finds a certificate's issuer and responder; returns nginx's words for why there is no stapling without them. nginx:
 * ngx_ssl_stapling_issuer, ngx_ssl_stapling_responder.
 */
export function stapleSource(
  { chain }: Identity,
  name: string,
  settings: Pick<TlsSettings, 'staplingResponder' | 'staplingVerify'>,
  authorities: readonly X509Certificate[],
): StapleSource | string {
  const [certificate, ...others] = chain.certificates;
  const issuer = [...others, ...authorities].find((candidate) => certificate!.checkIssued(candidate));
  if (issuer === undefined) {
    return `"ssl_stapling" ignored, issuer certificate not found for certificate "${name}"`;
  }
  const url = settings.staplingResponder || responderUrl(certificate!.infoAccess);
  if (url === undefined) {
    return `"ssl_stapling" ignored, no OCSP responder URL in the certificate "${name}"`;
  }
  const responder = parseResponder(url);
  if (typeof responder === 'string') {
    return `"ssl_stapling" ignored, ${responder} in the certificate "${name}"`;
  }
  const trust = { chain: others, roots: authorities, signer: settings.staplingVerify ? 'chain' : 'none' } as const;
  return { certificate: certificate!, issuer, responder, trust };
}

/** The response that is sent along with one certificate, fetched when handshakes ask for it. nginx: ngx_ssl_stapling_t. */
export class Staple {
  readonly #source: StapleSource;
  /** Whose resolver and log are used. */
  readonly #root: () => TlsRoot;
  #response: Buffer | undefined = undefined;
  #valid = 0;
  #refresh = 0;
  #loading = false;

  constructor(source: StapleSource, root: () => TlsRoot) {
    this.#source = source;
    this.#root = root;
  }

  /** The present response. When it is due, asks for a new one for later handshakes. nginx: ngx_ssl_certificate_status_callback. */
  current(): Buffer | undefined {
    const now = nowSeconds();
    if (!this.#loading && this.#refresh < now) {
      this.#update();
    }
    return this.#valid >= now ? this.#response : undefined;
  }

  #update(): void {
    this.#loading = true;
    const { certificate, issuer, responder } = this.#source;
    const { resolver, resolverTimeout } = this.#root().conf(resolverSlot);
    fetchOcsp(
      responder,
      ocspRequest(certificateId(certificate, issuer)),
      { resolver, timeout: resolverTimeout, system: true },
      (response, problem) => this.#loaded(response, problem),
    );
  }

  #loaded(response: Buffer | undefined, problem: string): void {
    const now = nowSeconds();
    this.#loading = false;
    this.#refresh = now + SOON;
    try {
      if (response === undefined) {
        throw new OcspError(problem);
      }
      const { certificate, issuer, trust } = this.#source;
      const { status, valid } = readOcspResponse(response, certificate, issuer, trust, now);
      if (status !== 'good') {
        throw new OcspError(`certificate status "${status}" in the OCSP response`);
      }
      this.#response = response;
      this.#valid = valid;
      this.#refresh = Math.max(Math.min(valid - SOON, now + OFTEN), now + SOON);
    } catch (error) {
      if (!(error instanceof OcspError)) {
        throw error;
      }
      const { host } = this.#source.responder;
      this.#root().log.log(ERROR, `${error.message} while requesting certificate status, responder: ${host}`);
    }
  }
}
