import { scryptSync } from 'node:crypto';
import { ERROR, type Level } from '../../../shared/log/level.js';
import { loginKind } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
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
import type { LoginStore } from './session-store.js';
import { MIN_SECRET, type ProviderSettings } from './settings.js';
import { ZoneSessions } from './zone-sessions.js';

/** The pair of a zone that has a random key. */
const KEY_NAME = 'key';
/** How many logins and logouts of a worker may ask the provider at a time. */
const MAX_EXCHANGES = 256;

/** An OpenID Provider as a worker knows it. */
export class Provider {
  readonly settings: ProviderSettings;
  readonly zone: KeyvalZone;
  readonly client: OpenIdClient;
  readonly metadata: KnownMetadata;
  readonly sessions: LoginStore;
  readonly meter: Meter;
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
    this.meter = env.zones.counters.meters.meter(loginKind, settings.name);
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
    this.#keys = keysOf(settings, `provider ${this.purpose}`);
    this.sessions = settings.inCookies
      ? new CookieSessions(settings, zone, this.#keys, this.purpose)
      : new ZoneSessions(settings, zone, this.purpose);
  }

  /** The keys of what browsers keep for the server; the first one encrypts. All workers have the same. */
  get keys(): readonly Buffer[] {
    return this.#keys.length > 0 ? this.#keys : this.#keysOfZone();
  }

  /** Sees to it that there is a key while the zone has room for one. */
  prepare(): void {
    if (this.#keys.length === 0) {
      this.#keysOfZone();
    }
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

  /** A key that the first worker has made, together with what the provider knows us by: neither alone opens anything. */
  #keysOfZone(): readonly Buffer[] {
    const { clientKey, clientSecret = '' } = this.settings;
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
      const secret = `${text} ${clientKey?.pem ?? clientSecret}`;
      this.#zoneKey = { text, keys: [deriveKey(Buffer.from(secret, 'latin1'), `provider ${this.purpose}`)] };
    }
    return this.#zoneKey!.keys;
  }
}

/**
 * The keys that the configuration has. Where other machines must have them too, since cookies hold the sessions or the zone is theirs, that
 * may be what the provider knows us by, which is made slow to guess; elsewhere a key in the zone is as good, and nobody can guess anything.
 */
function keysOf({ sessionKeys, clientKey, clientSecret, inCookies, zone }: ProviderSettings, purpose: string): readonly Buffer[] {
  const secret = clientKey?.pem ?? clientSecret;
  const shared = inCookies || zone.data.sync;
  if (sessionKeys.length === 0 && shared && secret !== undefined && secret.length >= MIN_SECRET) {
    return [deriveKey(scryptSync(Buffer.from(secret, 'latin1'), purpose, 32), purpose)];
  }
  return sessionKeys.map((key) => deriveKey(Buffer.from(key, 'latin1'), purpose));
}
