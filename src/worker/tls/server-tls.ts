import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { NamedFiles } from '../../shared/config/named-files.js';
import type { ZoneStore } from '../../shared/zone/store.js';
import { clearAfterChecks } from '../net/openssl/certificate-check.js';
import { compressCertificates } from '../net/openssl/certificate-compression.js';
import { forbidSessions } from '../net/openssl/session-mode.js';
import type { ClientTask } from '../task/client-task.js';
import { ServerSlot } from '../task/settings-slot.js';
import { chosenCertificate } from './certificate-choice.js';
import type { ClientHello } from './client-hello.js';
import type { StatusRules } from './client-status.js';
import { type ContextBase, contextBase, makeContext, speaks13 } from './context.js';
import { EarlyContext } from './early-context.js';
import type { GivenIdentity, HandshakeHooks } from './handshake-hooks.js';
import { configuredIdentity, fits, type Identity, mismatch } from './identity.js';
import { contextsOf, type IdentityContexts } from './identity-contexts.js';
import { parseResponder } from './ocsp-fetch.js';
import { DATA, loadChain, loadKey, NoCertificateYet, readPasswords } from './pem.js';
import { QuicContext } from './quic-context.js';
import { StoredQuicSessions } from './quic-sessions.js';
import { BuiltinSessions, type TlsSessionStore } from './sessions.js';
import { AUTOMATIC_CERTIFICATE, type NameWithVariables, TLS, type TlsSettings } from './settings.js';
import { Staple, stapleSource } from './stapling.js';
import { FileKeys, FleetKeys, type TicketKeys, useTicketKeys, ZoneKeys } from './tickets.js';
import type { TlsRoot } from './tls-address.js';

/** What a `server {}` is for its TLS clients. nginx: the SSL_CTX of ngx_http_ssl_srv_conf_t. */
export class ServerTls {
  readonly settings: TlsSettings;
  readonly sessions: TlsSessionStore | undefined;
  /** Where sessions over QUIC are kept; undefined where tickets hold them, or nothing does. */
  readonly quicSessions: StoredQuicSessions | undefined;
  /** How the status of clients' certificates is asked for. */
  readonly statusRules: StatusRules | undefined;
  /** DER of an OCSP response from a file, which goes with every certificate. */
  readonly #stapleFile: Buffer | undefined;
  /** What goes with each certificate; undefined where nothing does. */
  #staples: readonly (Staple | undefined)[] | undefined;
  #leaves: readonly X509Certificate[];
  readonly #speaks13: boolean = false;
  readonly #base: ContextBase | undefined;
  readonly #fixed: SecureContext | undefined;
  readonly #early: EarlyContext | undefined;
  /** Makes {@link #fixed} once more. */
  readonly #remake: (() => SecureContext) | undefined;
  #quicFixed: QuicContext | undefined = undefined;
  #quicContexts: IdentityContexts | undefined = undefined;
  readonly #quicOf = new WeakMap<SecureContext, QuicContext>();
  #quicNamed: { readonly pairs: readonly Texts[]; readonly context: QuicContext } | undefined = undefined;
  readonly #keys: TicketKeys | undefined;
  readonly #passwords: readonly string[];
  readonly #contexts: IdentityContexts | undefined;
  readonly #root: () => TlsRoot;
  /** The latest certificates that variables named by their text, and what was made of them. */
  #named: { readonly pairs: readonly Texts[]; readonly context: SecureContext } | undefined = undefined;

  /** Decides about hellos; undefined where nothing does. */
  hooks: HandshakeHooks | undefined = undefined;
  readonly #given = new WeakMap<GivenIdentity, SecureContext>();
  readonly #quicGiven = new WeakMap<GivenIdentity, QuicContext>();

  /** For handshakes that have a context of their own, with which nothing in the settings has to do. */
  readonly bare: () => ServerTls;

  /** Reads all `files`; they were checked before. `root`: the server's resolver and log, once there are requests. */
  constructor(settings: TlsSettings, files: NamedFiles, zones: ZoneStore, root: () => TlsRoot) {
    this.settings = settings;
    this.#root = root;
    const nothing = { certificates: undefined, rejectHandshake: false, passwordFile: undefined } as const;
    this.bare = () => new ServerTls({ ...settings, ...nothing }, files, zones, root);
    this.#passwords = passwordsOf(settings, files);
    this.#leaves = [];
    if (!hasContext(settings)) {
      return;
    }
    const { zone, builtin } = settings.sessionCache;
    if (builtin === 'off' || builtin === 'none') {
      this.sessions = undefined;
    } else if (zone !== undefined) {
      this.sessions = zones.open(zone);
    } else if (builtin !== undefined) {
      this.sessions = new BuiltinSessions(builtin);
    }
    if (this.sessions !== undefined && !settings.sessionTickets) {
      this.quicSessions = new StoredQuicSessions(this.sessions, settings.sessionTimeout);
    }
    if (settings.sessionTickets) {
      this.#keys = ticketKeys(settings, files, zones);
    }
    this.#base = contextBase(settings, files);
    this.#speaks13 = speaks13(this.#base);
    const dynamic = namesWithVariables(settings).length > 0;
    const identities = dynamic ? [] : identitiesOf(settings, this.#passwords, files);
    this.#leaves = identities.map(({ chain }) => chain.certificates[0]!);
    if (settings.stapling && settings.staplingFile !== undefined) {
      this.#stapleFile = Buffer.from(files.read(settings.staplingFile), 'latin1');
    } else if (settings.stapling) {
      this.#staples = staplesOf(settings, identities, this.#base.authorities, root);
    }
    if (settings.ocsp !== 'off') {
      this.statusRules = statusRules(settings, this.#base.authorities, zones);
    }
    if (!dynamic) {
      const make = (): SecureContext => makeContext(this.#base!, identities);
      this.#remake = make;
      this.#fixed = this.#ready(make(), true);
      if (settings.earlyData && this.#keys !== undefined && this.#speaks13) {
        this.#early = new EarlyContext(make, this.#fixed, this.#keys);
      }
    } else {
      this.#contexts = contextsOf(settings.certificateCache);
    }
  }

  /**
   * The context for a client that sends early data with this hello, in place of its usual one; undefined where that is refused, which the
   * handshake tells the client.
   */
  earlyContext(usual: SecureContext, hello: ClientHello): SecureContext | undefined {
    const taken = usual === this.#fixed && this.settings.verify === 'off' && this.agreesOn13(hello);
    return taken ? this.#early?.for(hello) : undefined;
  }

  /** Whom clients are checked against. */
  get authorities(): readonly X509Certificate[] {
    return this.#base?.authorities ?? [];
  }

  /** The certificates that clients may get, as far as they are known before a handshake. */
  get certificates(): readonly X509Certificate[] {
    return this.#leaves;
  }

  /** The server can run handshakes: it has certificates, or is there to refuse. */
  get ready(): boolean {
    return this.#base !== undefined;
  }

  /** True when a handshake that begins with this hello can only end in TLS 1.3 or fail. */
  agreesOn13(hello: ClientHello | undefined): boolean {
    return this.#speaks13 && hello?.tls13 === true;
  }

  /**
   * The context for a handshake; `task` gives what variables in the names of certificates are evaluated for. Throws {@link
   * TlsFileError} or {@link NoCertificateYet}.
   */
  contextFor(task: () => ClientTask): SecureContext {
    if (this.#fixed !== undefined) {
      return this.#fixed;
    }
    const { certificates } = this.settings;
    const pairs = this.#evaluate(task());
    const known = this.#named;
    if (known !== undefined && sameTexts(known.pairs, pairs)) {
      return known.context;
    }
    const context = this.#contexts!.get(pairs, this.#passwords, (identities) => {
      this.#issued(identities);
      // To compress takes longer than a handshake: certificates that change with each are sent as they are.
      return this.#ready(makeContext(this.#base!, identities, certificates), isAutomatic(certificates));
    });
    // A text is what it is, while a file may change.
    if (pairs.every(([certificate, key]) => certificate.startsWith(DATA) && key.startsWith(DATA))) {
      this.#named = { pairs, context };
    }
    return context;
  }

  /** The context with a certificate that some script has given, made once for it. Throws {@link TlsFileError}. */
  givenContext(given: GivenIdentity): SecureContext {
    let context = this.#given.get(given);
    if (context === undefined) {
      context = this.#ready(this.#makeGiven(given), false);
      this.#given.set(given, context);
    }
    return context;
  }

  /** The context of a given identity for a handshake over QUIC. */
  givenQuicContext(given: GivenIdentity): QuicContext {
    let context = this.#quicGiven.get(given);
    if (context === undefined) {
      context = this.#quicReady(this.#makeGiven(given), false);
      this.#quicGiven.set(given, context);
    }
    return context;
  }

  #makeGiven({ certificate, key }: GivenIdentity): SecureContext {
    const identity = { chain: loadChain(DATA + certificate), key: loadKey(DATA + key, this.#passwords) };
    if (!fits(identity)) {
      throw mismatch('data:');
    }
    return makeContext(this.#base!, [identity]);
  }

  /** What certificates and keys are, as texts: the values of variables. Throws {@link NoCertificateYet}. */
  #evaluate(r: ClientTask): readonly Texts[] {
    const { certificates, certificateKeys, complexNames } = this.settings;
    const evaluate = (name: string): string => complexNames.get(name)?.eval(r) ?? name;
    const pairs = certificates!.map((name, i) => [evaluate(name), evaluate(certificateKeys![i]!)] as const);
    if (pairs.some(([certificate]) => certificate === DATA)) {
      throw new NoCertificateYet();
    }
    return pairs;
  }

  /** The context as {@link contextFor} finds it, for a handshake over QUIC, which needs one of its own. */
  quicContext(task: () => ClientTask): QuicContext {
    if (this.#remake !== undefined) {
      this.#quicFixed ??= this.#quicReady(this.#remake(), true);
      return this.#quicFixed;
    }
    const pairs = this.#evaluate(task());
    const known = this.#quicNamed;
    if (known !== undefined && sameTexts(known.pairs, pairs)) {
      return known.context;
    }
    this.#quicContexts ??= contextsOf(this.settings.certificateCache);
    const context = this.#quicContexts.get(pairs, this.#passwords, (identities) => {
      this.#issued(identities);
      return makeContext(this.#base!, identities, this.settings.certificates);
    });
    const quic = this.#quicOf.get(context) ?? this.#quicReady(context, isAutomatic(this.settings.certificates));
    this.#quicOf.set(context, quic);
    if (pairs.every(([certificate, key]) => certificate.startsWith(DATA) && key.startsWith(DATA))) {
      this.#quicNamed = { pairs, context: quic };
    }
    return quic;
  }

  #quicReady(context: SecureContext, stays: boolean): QuicContext {
    this.#prepare(context, stays);
    const { earlyData, verify } = this.settings;
    const early = earlyData && this.#keys !== undefined && verify === 'off';
    return new QuicContext(context, this.#keys, early, this.quicSessions !== undefined);
  }

  /** Does what handshakes over TCP and over QUIC need alike. `stays`: many handshakes share the context. */
  #prepare(context: SecureContext, stays: boolean): void {
    if (this.settings.verify !== 'off') {
      clearAfterChecks(context);
    }
    if (stays && this.settings.certificateCompression) {
      compressCertificates(context);
    }
  }

  /** An issuer's certificate is one for all handshakes until it is renewed, so that it can be shown, and a response can go with it. */
  #issued(identities: readonly Identity[]): void {
    const { stapling, staplingFile, certificates } = this.settings;
    if (!isAutomatic(certificates)) {
      return;
    }
    this.#leaves = identities.map(({ chain }) => chain.certificates[0]!);
    if (stapling && staplingFile === undefined) {
      this.#staples = staplesOf(this.settings, identities, this.#base!.authorities, this.#root);
    }
  }

  /** Handshakes are to be asked which response goes with them. */
  get staples(): boolean {
    return this.#stapleFile !== undefined || this.#staples !== undefined;
  }

  /** The response that goes with the certificate that this client is going to get. */
  stapleFor(hello: ClientHello | undefined): Buffer | undefined {
    if (this.#stapleFile !== undefined) {
      return this.#stapleFile;
    }
    const { preferServerCiphers, protocols } = this.settings;
    const chosen = chosenCertificate(this.#leaves, hello, preferServerCiphers, (protocols & TLS.TLS_1_3) !== 0);
    return chosen === undefined ? undefined : this.#staples?.[chosen]?.current();
  }

  #ready(context: SecureContext, stays: boolean): SecureContext {
    this.#prepare(context, stays);
    if (this.settings.sessionCache.builtin === 'off') {
      forbidSessions(context);
    }
    if (this.#keys !== undefined) {
      useTicketKeys(context, this.#keys);
    }
    return context;
  }
}

/** Whether a server's only certificate is one that an issuer gives it. */
export const isAutomatic = (certificates: readonly string[] | undefined): boolean =>
  certificates?.length === 1 && certificates[0] === AUTOMATIC_CERTIFICATE;

/** What a server's handshakes run with. */
export const tlsSlot: ServerSlot<ServerTls> = new ServerSlot<ServerTls>();

type Texts = readonly [certificate: string, key: string];

const sameTexts = (one: readonly Texts[], other: readonly Texts[]): boolean =>
  one.length === other.length && one.every(([certificate, key], i) => certificate === other[i]![0] && key === other[i]![1]);

/** Whether a server has what a handshake needs. */
export function hasContext(settings: TlsSettings): boolean {
  return settings.certificates !== undefined || settings.rejectHandshake;
}

/** The certificates and keys of a server that have variables in their names. */
export function namesWithVariables({ certificates = [], certificateKeys = [], complexNames }: TlsSettings): NameWithVariables[] {
  return [...certificates, ...certificateKeys.slice(0, certificates.length)].flatMap((name) => complexNames.get(name) ?? []);
}

/** A server's certificates as the configuration names them. Throws {@link TlsFileError} with nginx's line. */
export function identitiesOf(settings: TlsSettings, passwords: readonly string[], files: NamedFiles): Identity[] {
  const keys = settings.certificateKeys ?? [];
  return (settings.certificates ?? []).map((certificate, i) => configuredIdentity(certificate, keys[i]!, passwords, files));
}

/** The passwords for keys; none when no file names any. */
export function passwordsOf({ passwordFile }: TlsSettings, files: NamedFiles): readonly string[] {
  return passwordFile === undefined ? [] : readPasswords(files.read(passwordFile));
}

function ticketKeys(settings: TlsSettings, files: NamedFiles, zones: ZoneStore): TicketKeys | undefined {
  if (settings.ticketKeyFiles.length > 0) {
    return new FileKeys(settings.ticketKeyFiles.map((path) => Buffer.from(files.read(path), 'latin1')));
  }
  const zone = settings.sessionCache.zone ?? settings.ticketZone;
  if (zone === undefined) {
    return undefined;
  }
  const own = new ZoneKeys(zones.open(zone), settings.sessionTimeout);
  return settings.ticketSync === null ? own : new FleetKeys(zones.open(settings.ticketSync), own);
}

function staplesOf(
  settings: TlsSettings,
  identities: readonly Identity[],
  authorities: readonly X509Certificate[],
  root: () => TlsRoot,
): (Staple | undefined)[] | undefined {
  const staples = identities.map((each, i) => {
    const source = stapleSource(each, settings.certificates![i]!, settings, authorities);
    return typeof source === 'string' ? undefined : new Staple(source, root);
  });
  return staples.some((staple) => staple !== undefined) ? staples : undefined;
}

function statusRules(settings: TlsSettings, authorities: readonly X509Certificate[], zones: ZoneStore): StatusRules {
  const { ocsp, ocspResponder, ocspCache } = settings;
  const responder = ocspResponder === '' ? undefined : parseResponder(ocspResponder);
  return {
    leafOnly: ocsp === 'leaf',
    responder: typeof responder === 'string' ? undefined : responder,
    cache: ocspCache === null ? undefined : zones.open(ocspCache),
    authorities,
  };
}
