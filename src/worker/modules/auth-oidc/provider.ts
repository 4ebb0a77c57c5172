import { ERROR, type Level } from '../../../shared/log/level.js';
import type { WorkerEnv } from '../../env.js';
import type { Lookup } from '../../js/fetch-settings.js';
import type { KeyvalZone } from '../../lookup/keyval-zone.js';
import { CookieSessions } from './cookie-sessions.js';
import type { ProviderFailure } from './failure.js';
import { KnownMetadata } from './metadata.js';
import { OpenIdClient } from './openid-client.js';
import { providerFetch } from './provider-fetch.js';
import { ProviderPlace } from './provider-place.js';
import { deriveKey, randomText } from './seal.js';
import type { SessionStore } from './session-store.js';
import type { ProviderSettings } from './settings.js';
import { ZoneSessions } from './zone-sessions.js';

/** The pair of a zone that has the key of a provider that shares no secret with us. */
const KEY_NAME = 'key';
/** How many logins and logouts of a worker may ask the provider at a time. */
const MAX_EXCHANGES = 256;

/** An OpenID Provider as a worker knows it. */
export class Provider {
  readonly settings: ProviderSettings;
  readonly zone: KeyvalZone;
  readonly client: OpenIdClient;
  readonly metadata: KnownMetadata;
  readonly sessions: SessionStore;
  /** What ties what is encrypted to this provider. */
  readonly purpose: string;
  /** Refreshing is left alone until then (milliseconds of the monotonic clock), since the provider did not answer. */
  restsUntil = 0;
  /** The last refresh had no answer. */
  silent = false;
  readonly #env: WorkerEnv;
  #exchanges = 0;
  readonly #keys: readonly Buffer[];
  #zoneKey: { readonly text: string; readonly keys: readonly Buffer[] } | undefined;

  constructor(settings: ProviderSettings, zone: KeyvalZone, env: WorkerEnv, lookup: Lookup) {
    this.settings = settings;
    this.#env = env;
    this.zone = zone;
    this.purpose = `${settings.name} ${settings.issuer} ${settings.clientId}`;
    const place = new ProviderPlace(settings, env.named, lookup);
    this.client = new OpenIdClient(
      settings,
      providerFetch(place, (level, message) => this.log(level, message)),
    );
    this.metadata = new KnownMetadata(
      () => this.client.discover(),
      (failure) => this.log(ERROR, this.text(failure)),
    );
    this.#keys = keysOf(settings).map((secret) => deriveKey(Buffer.from(secret, 'latin1'), `provider ${this.purpose}`));
    this.sessions = settings.inCookies
      ? new CookieSessions(settings, zone, this.#keys, this.purpose)
      : new ZoneSessions(settings, zone, this.purpose);
  }

  /** The keys of what browsers keep for the server; the first one encrypts. All workers have the same. */
  get keys(): readonly Buffer[] {
    return this.#keys.length > 0 ? this.#keys : this.#keysOfZone();
  }

  /** A failure in words for the error log. */
  text(failure: ProviderFailure): string {
    return `oidc provider "${this.settings.name}": ${failure.message}`;
  }

  log(level: Level, message: string): void {
    this.#env.log.log(level, message);
  }

  /** Asks for room to ask the provider something on behalf of a browser; {@link leave} gives it back. */
  enter(): boolean {
    if (this.#exchanges >= MAX_EXCHANGES) {
      return false;
    }
    this.#exchanges++;
    return true;
  }

  leave(): void {
    this.#exchanges--;
  }

  /** A key that the first worker that needs it has made. */
  #keysOfZone(): readonly Buffer[] {
    let text = this.zone.find(KEY_NAME);
    if (text === undefined) {
      const fresh = randomText();
      text =
        this.zone.change((changes) => {
          const known = changes.get(KEY_NAME)?.value;
          if (known === undefined) {
            changes.put(KEY_NAME, { value: fresh, expires: Number.POSITIVE_INFINITY });
          }
          return known ?? fresh;
        }) ?? fresh;
    }
    if (this.#zoneKey?.text !== text) {
      this.#zoneKey = { text, keys: [deriveKey(Buffer.from(text), `provider ${this.purpose}`)] };
    }
    return this.#zoneKey!.keys;
  }
}

/** The secrets that keys are derived of: those that are there for it, or else what the provider knows us by. */
function keysOf({ sessionKeys, clientKey, clientSecret }: ProviderSettings): readonly string[] {
  if (sessionKeys.length > 0) {
    return sessionKeys;
  }
  const secret = clientKey?.pem ?? clientSecret;
  return secret === undefined ? [] : [secret];
}
