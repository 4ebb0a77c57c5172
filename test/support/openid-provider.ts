import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { certs } from './certs.js';
import { reservePort } from './ports.js';
import type { Scene } from './prefix.js';

/** What a provider is like; times are in seconds. */
export interface ProviderOptions {
  /** Whole URLs that browsers come back to after a login. */
  readonly redirectUris: readonly string[];
  readonly postLogoutUris?: readonly string[];
  readonly backchannelLogoutUri?: string;
  /** `client_secret_basic` unless told. */
  readonly clientAuth?: string;
  /** The public keys of a client that has `private_key_jwt`. */
  readonly clientKeys?: readonly object[];
  /** Further metadata of the client. */
  readonly client?: object;
  readonly accessTokenTtl?: number;
  readonly idTokenTtl?: number;
  readonly refreshTokens?: boolean;
  readonly pkceRequired?: boolean;
  /** Types of grants that the client has besides. */
  readonly grants?: readonly string[];
  /** Milliseconds by which its clock is ahead. */
  readonly clockOffset?: number;
  /** Users see a form. */
  readonly form?: boolean;
  readonly features?: object;
  /** Lists of algorithms that it knows, beside the usual ones. */
  readonly algorithms?: object;
  readonly claims?: object;
  /** What it signs with at first. */
  readonly key?: object;
}

export const CLIENT_ID = 'sluice';
export const CLIENT_SECRET = 'a secret that only tests know: 0123456789';

/** A key of a provider, private parts included. */
export function signingKey(): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

/** An `oidc-provider` in a process of its own, at a port of 127.0.0.1, which ends with the test. */
export class OpenIdProvider {
  readonly port: number;
  readonly #options: ProviderOptions;
  #child: ChildProcess | undefined;
  #keys: readonly object[];

  private constructor(port: number, options: ProviderOptions) {
    this.port = port;
    this.#options = options;
    this.#keys = [options.key ?? signingKey()];
  }

  static async start(t: Scene, options: ProviderOptions): Promise<OpenIdProvider> {
    const reserved = await reservePort();
    const provider = new OpenIdProvider(reserved.port, options);
    t.teardown(async () => {
      await provider.stop();
      reserved.release();
    });
    await provider.begin();
    return provider;
  }

  get issuer(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** The key that it signs with. */
  get key(): object {
    return this.#keys[0]!;
  }

  /** Lines of an `oidc_provider` block that find this provider. */
  get lines(): string {
    return `issuer ${this.issuer}; client_id ${CLIENT_ID}; ssl_trusted_certificate ${certs().ca.cert};`;
  }

  /** Starts it, with no memory of before. */
  async begin(changed: Partial<ProviderOptions> = {}): Promise<void> {
    const options = { ...this.#options, ...changed };
    const { cert, key } = certs().rsa;
    const client = {
      client_id: CLIENT_ID,
      ...(options.clientAuth === 'none' || options.clientAuth === 'private_key_jwt' ? {} : { client_secret: CLIENT_SECRET }),
      token_endpoint_auth_method: options.clientAuth ?? 'client_secret_basic',
      ...(options.clientKeys === undefined ? {} : { jwks: { keys: options.clientKeys } }),
      redirect_uris: options.redirectUris,
      ...options.client,
      post_logout_redirect_uris: options.postLogoutUris ?? [],
      grant_types: ['authorization_code', 'refresh_token', ...(options.grants ?? [])],
      ...(options.backchannelLogoutUri === undefined
        ? {}
        : { backchannel_logout_uri: options.backchannelLogoutUri, backchannel_logout_session_required: true }),
    };
    const settings = { ...options, host: '127.0.0.1', port: this.port, cert, key, clients: [client], jwks: { keys: this.#keys } };
    const child = fork(fileURLToPath(new URL('openid-provider.mjs', import.meta.url)), [], {
      env: { ...process.env, OPENID_PROVIDER: JSON.stringify(settings), NODE_EXTRA_CA_CERTS: certs().ca.cert, NODE_NO_WARNINGS: '1' },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let errors = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the provider has ended with ${code}: ${errors}`)));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined && child.exitCode === null) {
      await new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGKILL');
      });
    }
  }

  /** Has it sign with another key from its next start on. */
  rotateKeys(): void {
    this.#keys = [signingKey()];
  }

  /** Says who logs in next, what users' claims are, and what tokens are like. Returns how often each path was asked for. */
  set(
    state: { user?: string } & Partial<Pick<ProviderOptions, 'form' | 'claims' | 'clockOffset' | 'accessTokenTtl' | 'refreshTokens'>> = {},
  ): Promise<Readonly<Record<string, number>>> {
    return new Promise((resolve) => {
      this.#child!.once('message', ({ counts }: { counts: Record<string, number> }) => resolve(counts));
      this.#child!.send({ set: state });
    });
  }
}
