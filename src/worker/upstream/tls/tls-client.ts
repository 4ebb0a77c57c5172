import { isIPv4 } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { NamedFiles } from '../../../shared/config/named-files.js';
import { ERROR } from '../../../shared/log/level.js';
import { network } from '../../net/engine/network.js';
import type { BackendTls } from '../../net/secure-backend-socket.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { type ContextBase, clientContextBase, makeContext } from '../../tls/context.js';
import { configuredIdentity } from '../../tls/identity.js';
import { contextsOf, type IdentityContexts } from '../../tls/identity-contexts.js';
import { hasTuples } from '../../tls/names.js';
import { TlsFileError } from '../../tls/pem.js';
import { verifyFailure } from '../../tls/verify.js';
import type { Peer, TlsIdentity } from '../balancing/peer.js';
import type { BackendUser } from '../connection/backend-user.js';
import type { UpstreamConnection } from '../connection/connection.js';
import { HandshakeCount } from '../connection/handshake-count.js';
import type { TlsPurpose } from '../connection/tls-purpose.js';
import type { UpstreamTls } from '../exchange/tls.js';
import type { TlsClientSettings } from '../settings/tls-settings.js';

/** What connections with the same settings share. */
export interface ClientContext {
  readonly base: ContextBase;
  /** Has the certificate, unless its name has variables. */
  readonly context: SecureContext;
  /** Makes the same for backends whose sessions are {@link SavedSession.classic}, once; undefined where all hellos are alike. */
  readonly classic: () => SecureContext | undefined;
}

/**
 * What OpenSSL 3.5 offers by itself, with a key of X25519 alone. To make one of X25519MLKEM768, too, takes longer than the rest of the
 * hello, for nothing if the backend does not know that group. One that knows it asks for such a key.
 */
const CLASSIC_KEY = '?X25519MLKEM768/?*X25519:?secp256r1/?X448:?secp384r1:?secp521r1/?ffdhe2048:?ffdhe3072';

/** Contexts that locations share, by their settings. */
export const clientContextsOf = runtimePart(() => new Map<string, ClientContext>());

/** Makes the context of a location's connections. Throws {@link TlsFileError} with nginx's line. */
export function clientContext(conf: Readonly<TlsClientSettings>, files: NamedFiles): ClientContext {
  const { sslCertificate: certificate, sslCertificateKey: key } = conf;
  const base = clientContextBase(
    {
      protocols: conf.sslProtocols,
      ciphers: conf.sslCiphers,
      trustedCertificate: conf.sslVerify ? conf.sslTrustedCertificate : undefined,
      crl: conf.sslVerify && conf.sslCrl !== '' ? conf.sslCrl : undefined,
      confCommands: conf.sslConfCommands,
    },
    files,
  );
  const fixed = certificate?.path !== undefined && certificate.path !== '' && key?.path !== undefined;
  const identities = fixed ? [configuredIdentity(certificate.path!, key.path!, conf.sslPasswords, files)] : [];
  let classic: SecureContext | undefined;
  const differs = hasTuples(process.versions.openssl) && base.options.ecdhCurve === 'auto';
  return {
    base,
    context: makeContext(base, identities),
    classic: () => {
      if (differs) {
        classic ??= makeContext({ ...base, options: { ...base.options, ecdhCurve: CLASSIC_KEY } }, identities);
      }
      return classic;
    },
  };
}

const HTTP2: readonly string[] = ['h2'];
const NO_PROTOCOLS: readonly string[] = [];

/** How a location makes TLS connections to its backends. */
export class TlsClient implements UpstreamTls {
  readonly #conf: Readonly<TlsClientSettings>;
  readonly #base: ContextBase;
  readonly #context: SecureContext;
  readonly #makeClassic: ClientContext['classic'];
  #classic: SecureContext | undefined = undefined;
  readonly #dynamic: boolean;
  readonly #contexts: IdentityContexts;
  readonly #http2: boolean;
  /** The latest purpose, which is mostly the next one's, too. */
  #purpose: TlsPurpose | undefined = undefined;

  /** Locations with the same settings share a context through `contexts`. `http2`: that protocol is asked for. */
  constructor(conf: Readonly<TlsClientSettings>, files: NamedFiles, contexts: Map<string, ClientContext>, http2 = false) {
    this.#conf = conf;
    this.#http2 = http2;
    const { sslCertificate: certificate, sslCertificateKey: key, sslCertificateCache: cache } = conf;
    const id = contextId(conf);
    let made = contexts.get(id);
    if (made === undefined) {
      made = clientContext(conf, files);
      contexts.set(id, made);
    }
    this.#base = made.base;
    this.#context = made.context;
    this.#makeClassic = made.classic;
    this.#dynamic = certificate !== undefined && (certificate.path === undefined || (certificate.path !== '' && key?.path === undefined));
    this.#contexts = contextsOf(cache);
    network.prepareTls();
  }

  purpose(u: BackendUser): TlsPurpose | null {
    const { sslServerName: told, sslVerify, sslVerifyDepth, sslName, sslCertificate, sslCertificateKey } = this.#conf;
    let certificate = '';
    let key = '';
    if (this.#dynamic) {
      try {
        certificate = sslCertificate!.eval(u.r);
        key = certificate === '' ? '' : sslCertificateKey!.eval(u.r);
      } catch (error) {
        complain(u, error);
        return null;
      }
    }
    let name = '';
    if (told || sslVerify) {
      name = hostPart(sslName === undefined ? u.peer.tlsName : sslName.eval(u.r));
      u.peer.useTlsName(name);
    }
    const last = this.#purpose;
    if (last !== undefined && last.name === name && last.certificate === certificate && last.key === key) {
      return last;
    }
    const purpose = { context: this.#context, certificate, key, name, told, depth: sslVerify ? sslVerifyDepth : 0 };
    this.#purpose = purpose;
    return purpose;
  }

  // nginx: ngx_http_upstream_ssl_init_connection.
  options(u: BackendUser, peer: Peer, { certificate, key, name }: TlsPurpose): BackendTls | null {
    const conf = this.#conf;
    const context = certificate === '' ? this.#context : this.#contextFor(u, certificate, key);
    if (context === null) {
      return null;
    }
    let serverName: string | undefined;
    if (conf.sslServerName && isHostName(name)) {
      if (name.length > LONGEST_NAME) {
        u.log(ERROR, `SSL_set_tlsext_host_name("${name}") failed (SSL: error:0A00013F:SSL routines::ssl3 ext invalid servername)`);
        return null;
      }
      serverName = name;
    }
    const saved = conf.sslSessionReuse ? peer.sessions?.get(context) : undefined;
    let used = context;
    if (saved?.classic && context === this.#context) {
      this.#classic ??= this.#makeClassic();
      used = this.#classic ?? context;
    }
    const protocols = this.#http2 ? HTTP2 : NO_PROTOCOLS;
    return { context: used, serverName, protocols, session: saved?.session, preface: undefined };
  }

  opened(u: BackendUser | null, c: UpstreamConnection, peer: Peer, { context: used, session }: BackendTls): void {
    const meters = u?.r.protocol.meters ?? null;
    if (meters !== null && c.secure !== undefined) {
      c.handshake = new HandshakeCount(peer.meter, meters);
    }
    if (!this.#conf.sslSessionReuse || c.secure === undefined) {
      return;
    }
    const context = used === this.#classic ? this.#context : used;
    if (session !== undefined) {
      c.resuming = peer.sessions?.get(context);
    }
    const sessions = (peer.sessions ??= new WeakMap());
    c.identity = { certificate: undefined };
    const { secure } = c;
    secure.keepSession((given) => {
      const classic = secure.cipher?.getEphemeralKeyInfo?.()?.name === 'X25519';
      sessions.set(context, { session: given, identity: identityOf(c), classic });
    });
  }

  // nginx: ngx_http_upstream_ssl_handshake.
  check(u: BackendUser, c: UpstreamConnection): string | undefined {
    if (!this.#conf.sslVerify) {
      return undefined;
    }
    const secure = c.secure!;
    const identity = identityOf(c);
    identity.certificate ??= secure.certificate;
    const { certificate } = identity;
    if (certificate !== undefined) {
      const failure = verifyFailure(secure.cipher, certificate, this.#base.authorities, this.#conf.sslVerifyDepth);
      if (failure !== null) {
        c.handshake?.distrusted(failure.code);
        return `upstream SSL certificate verify error: (${failure.code}:${failure.text})`;
      }
    }
    const { tlsName } = u.peer;
    const matches = tlsName !== '' && certificate?.checkHost(tlsName) !== undefined;
    if (!matches) {
      c.handshake?.mismatched();
    }
    return matches ? undefined : `upstream SSL certificate does not match "${tlsName}"`;
  }

  // nginx: ngx_http_upstream_ssl_certificate.
  #contextFor(u: BackendUser, certificate: string, key: string): SecureContext | null {
    try {
      return this.#contexts.get([[certificate, key]], this.#conf.sslPasswords, (identities) => makeContext(this.#base, identities));
    } catch (error) {
      complain(u, error);
      return null;
    }
  }
}

const complain = (u: BackendUser, error: unknown): void =>
  u.log(ERROR, error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`);

/** Who the backend is; in a resumed session, who it was at its beginning. */
function identityOf(c: UpstreamConnection): TlsIdentity {
  if (c.resuming !== undefined && c.resumed) {
    return c.resuming.identity;
  }
  c.identity ??= { certificate: undefined };
  return c.identity;
}

/** All that a context is made of. */
function contextId(conf: Readonly<TlsClientSettings>): string {
  const { sslProtocols, sslCiphers, sslVerify, sslTrustedCertificate, sslCrl, sslConfCommands, sslPasswords } = conf;
  const files = [conf.sslCertificate?.path, conf.sslCertificateKey?.path];
  return JSON.stringify([sslProtocols, sslCiphers, sslVerify, sslTrustedCertificate, sslCrl, sslConfCommands, sslPasswords, files]);
}

/** A name without the port that it may have, as $proxy_host and $http_host do. nginx: ngx_http_upstream_ssl_name. */
function hostPart(name: string): string {
  const close = name.startsWith('[') ? name.indexOf(']') : -1;
  const colon = name.indexOf(':', Math.max(close, 0));
  return colon === -1 ? name : name.slice(0, colon);
}

/** Bytes of a server name, at most. OpenSSL: TLSEXT_MAXLEN_host_name. */
const LONGEST_NAME = 255;

/** Addresses are not sent as a server name. */
const isHostName = (name: string): boolean => name !== '' && !name.startsWith('[') && !isIPv4(name);
