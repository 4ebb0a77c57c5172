import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { fsPath } from '../../shared/lib/fs-path.js';
import { Lru } from '../../shared/lib/lru.js';
import type { ZoneStore } from '../../shared/zone/store.js';
import type { Request } from '../http/request.js';
import { type ContextBase, contextBase, type Identity, makeContext, named } from './context.js';
import { loadChain, loadKey, readPasswords, TlsFileError } from './pem.js';
import { BuiltinSessions, type SessionStore } from './sessions.js';
import type { TlsSettings } from './settings.js';
import { FileKeys, type TicketKeys, useTicketKeys, ZoneKeys } from './tickets.js';

/** What a `server {}` is for its TLS clients. nginx: the SSL_CTX of ngx_http_ssl_srv_conf_t. */
export class ServerTls {
  readonly settings: TlsSettings;
  readonly sessions: SessionStore | undefined;
  /** DER of an OCSP response that is stapled to handshakes. */
  readonly staple: Buffer | undefined;
  readonly #base: ContextBase | undefined;
  readonly #fixed: SecureContext | undefined;
  readonly #keys: TicketKeys | undefined;
  readonly #passwords: readonly string[];
  readonly #cache: Lru<CachedContext> | undefined;

  /** Reads all files; they were checked before. */
  constructor(settings: TlsSettings, zones: ZoneStore) {
    this.settings = settings;
    this.#passwords = passwordsOf(settings);
    if (!hasContext(settings)) return;
    const { zone, builtin } = settings.sessionCache;
    if (zone !== undefined) this.sessions = zones.open(zone);
    else if (builtin > 0) this.sessions = new BuiltinSessions(builtin);
    if (settings.sessionTickets) this.#keys = ticketKeys(settings, zones);
    if (settings.stapling && settings.staplingFile !== undefined) this.staple = readFileSync(fsPath(settings.staplingFile));
    this.#base = contextBase(settings);
    const dynamic = settings.complexNames.size > 0;
    if (!dynamic) this.#fixed = this.#withKeys(makeContext(this.#base, identitiesOf(settings, this.#passwords)));
    else if (settings.certificateCache !== null) this.#cache = new Lru(settings.certificateCache.max);
  }

  /** Whom clients are checked against. */
  get authorities(): readonly X509Certificate[] {
    return this.#base?.authorities ?? [];
  }

  /** The server can run handshakes: it has certificates, or is there to refuse. */
  get ready(): boolean {
    return this.#base !== undefined;
  }

  /** The context for a handshake; `request` stands in for the one to come when names of certificates have variables. Throws {@link TlsFileError}. */
  contextFor(request: () => Request): SecureContext {
    if (this.#fixed !== undefined) return this.#fixed;
    const { certificates, certificateKeys, complexNames, certificateCache } = this.settings;
    const r = request();
    const evaluate = (name: string): string => complexNames.get(name)?.eval(r) ?? name;
    const pairs = certificates!.map((name, i) => [evaluate(name), evaluate(certificateKeys![i]!)] as const);
    const key = pairs.flat().join('\0');
    const now = performance.now() / 1000;
    const known = this.#cache?.get(key);
    if (known !== undefined && now - known.used <= certificateCache!.inactive && now - known.made <= certificateCache!.valid) {
      known.used = now;
      return known.context;
    }
    const identities = pairs.map(([certificate, keyName]) => identity(certificate, keyName, this.#passwords));
    const context = this.#withKeys(makeContext(this.#base!, identities, certificates));
    this.#cache?.set(key, { context, made: now, used: now });
    return context;
  }

  #withKeys(context: SecureContext): SecureContext {
    if (this.#keys !== undefined) useTicketKeys(context, this.#keys);
    return context;
  }
}

interface CachedContext {
  readonly context: SecureContext;
  readonly made: number;
  used: number;
}

/** Whether a server has what a handshake needs. */
export function hasContext(settings: TlsSettings): boolean {
  return settings.certificates !== undefined || settings.rejectHandshake;
}

/** A server's certificates as the configuration names them. Throws {@link TlsFileError} with nginx's line. */
export function identitiesOf(settings: TlsSettings, passwords: readonly string[]): Identity[] {
  const keys = settings.certificateKeys ?? [];
  return (settings.certificates ?? []).map((certificate, i) => identity(certificate, keys[i]!, passwords));
}

function identity(certificate: string, keyName: string, passwords: readonly string[]): Identity {
  const chain = named('certificate', certificate, loadChain);
  const key = named('certificate key', keyName, (path) => loadKey(path, passwords));
  if (!chain.certificates[0]!.checkPrivateKey(key)) {
    throw new TlsFileError(
      `SSL_CTX_use_PrivateKey("${keyName}") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)`,
    );
  }
  return { chain, key };
}

/** The passwords for keys; none when no file names any. */
export function passwordsOf({ passwordFile }: TlsSettings): readonly string[] {
  return passwordFile === undefined ? [] : readPasswords(readFileSync(fsPath(passwordFile), 'latin1'));
}

function ticketKeys(settings: TlsSettings, zones: ZoneStore): TicketKeys | undefined {
  if (settings.ticketKeyFiles.length > 0) return new FileKeys(settings.ticketKeyFiles.map((path) => readFileSync(fsPath(path))));
  const zone = settings.sessionCache.zone ?? settings.ticketZone;
  return zone === undefined ? undefined : new ZoneKeys(zones.open(zone), settings.sessionTimeout);
}
