import type { X509Certificate } from 'node:crypto';
import { ERROR } from '../../shared/log/level.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { resolverSlot } from '../task/resolver-slot.js';
import { fetchOcsp, parseResponder, type Responder, responderUrl } from './ocsp-fetch.js';
import { type CertificateStatus, certificateId, OcspError, ocspRequest, readOcspResponse } from './ocsp-message.js';
import type { TlsSessionStore } from './sessions.js';
import type { TlsRoot } from './tls-address.js';

/** What `ssl_ocsp` says. */
export interface StatusRules {
  /** Only the client's own certificate is asked about, not those that issued it. */
  readonly leafOnly: boolean;
  /** Asked in place of the responders that certificates name. */
  readonly responder: Responder | undefined;
  readonly cache: TlsSessionStore | undefined;
  /** Whom clients are checked against. */
  readonly authorities: readonly X509Certificate[];
}

/** Why a client is refused, in nginx's words; null when its certificates are good. */
export type StatusVerdict = string | null;

const FAILED = 'certificate status request failed';
const VERDICTS: Readonly<Record<CertificateStatus, StatusVerdict>> = {
  good: null,
  revoked: 'certificate revoked',
  unknown: 'certificate status unknown',
};
/** How long a status is kept that has no end; seconds. */
const NO_END = 3600;
/**
 * Asks for the status of a client's certificate and of those that issued it, one after the other. Calls back once, perhaps at once.
 * Returns what gives the questions up. nginx: ngx_ssl_ocsp_validate.
 */
export function checkStatus(
  certificate: X509Certificate,
  rules: StatusRules,
  root: TlsRoot,
  done: (verdict: StatusVerdict) => void,
): () => void {
  const check = new Check(issuersOf(certificate, rules.authorities), rules, root, done);
  check.next();
  return () => check.cancel();
}

/** Longer chains are not followed. */
const MAX_CHAIN = 20;

/** The certificate and those that issued it, up to one that is trusted by itself. */
function issuersOf(certificate: X509Certificate, authorities: readonly X509Certificate[]): X509Certificate[] {
  const chain = [certificate];
  for (let at = certificate; chain.length < MAX_CHAIN && !at.checkIssued(at); ) {
    const issued = (candidate: X509Certificate): boolean => at.checkIssued(candidate) && at.verify(candidate.publicKey);
    const issuer: X509Certificate | undefined = authorities.find(issued) ?? at.issuerCertificate;
    if (issuer === undefined) {
      break;
    }
    chain.push(issuer);
    at = issuer;
  }
  return chain;
}

class Check {
  readonly #chain: readonly X509Certificate[];
  readonly #rules: StatusRules;
  readonly #root: TlsRoot;
  readonly #done: (verdict: StatusVerdict) => void;
  #at = 0;
  #cancel: (() => void) | undefined = undefined;
  #cancelled = false;

  constructor(chain: readonly X509Certificate[], rules: StatusRules, root: TlsRoot, done: (verdict: StatusVerdict) => void) {
    this.#chain = chain;
    this.#rules = rules;
    this.#root = root;
    this.#done = done;
  }

  // nginx: ngx_ssl_ocsp_validate_next.
  next(): void {
    const [certificate, issuer] = this.#chain.slice(this.#at);
    if (issuer === undefined || (this.#rules.leafOnly && this.#at === 1)) {
      this.#done(null);
      return;
    }
    this.#at++;
    const responder = this.#rules.responder ?? this.#named(certificate!);
    if (responder === undefined) {
      this.#done(FAILED);
      return;
    }
    const id = certificateId(certificate!, issuer);
    const known = this.#rules.cache?.get(id);
    if (known !== undefined) {
      this.#conclude(known.toString('latin1') as CertificateStatus);
    } else {
      this.#ask(certificate!, issuer, responder, id);
    }
  }

  #named(certificate: X509Certificate): Responder | undefined {
    const url = responderUrl(certificate.infoAccess);
    const responder = url === undefined ? 'no OCSP responder URL' : parseResponder(url);
    if (typeof responder !== 'string') {
      return responder;
    }
    this.#log(`${responder} in certificate`);
    return undefined;
  }

  #ask(certificate: X509Certificate, issuer: X509Certificate, responder: Responder, id: Buffer): void {
    const { resolver, resolverTimeout: timeout } = this.#root.conf(resolverSlot);
    const by = { resolver, timeout, system: this.#rules.responder !== undefined };
    this.#cancel = fetchOcsp(responder, ocspRequest(id), by, (response, problem) => {
      this.#cancel = undefined;
      try {
        if (response === undefined) {
          throw new OcspError(problem);
        }
        const trust = { chain: this.#chain, roots: this.#rules.authorities, signer: 'authorized' } as const;
        const { status, valid } = readOcspResponse(response, certificate, issuer, trust, nowSeconds());
        this.#keep(id, status, valid);
      } catch (error) {
        if (!(error instanceof OcspError)) {
          throw error;
        }
        this.#log(`${error.message} while requesting certificate status, responder: ${responder.host}`);
        this.#done(FAILED);
      }
    });
  }

  /** Stores a status for later connections, then goes on. nginx: ngx_ssl_ocsp_cache_store. */
  #keep(id: Buffer, status: CertificateStatus, valid: number): void {
    const timeout = valid === Number.POSITIVE_INFINITY ? NO_END : valid - nowSeconds();
    const { cache } = this.#rules;
    const goOn = (): void => {
      if (!this.#cancelled) {
        this.#conclude(status);
      }
    };
    if (cache === undefined || timeout <= 0) {
      goOn();
    } else {
      cache.put(id, Buffer.from(status, 'latin1'), timeout, goOn);
    }
  }

  #conclude(status: CertificateStatus): void {
    const verdict = VERDICTS[status];
    if (verdict === null) {
      this.next();
    } else {
      this.#done(verdict);
    }
  }

  cancel(): void {
    this.#cancelled = true;
    this.#cancel?.();
  }

  #log(message: string): void {
    this.#root.log.log(ERROR, message);
  }
}
