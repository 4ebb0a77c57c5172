import { Lru } from '../../../shared/collection/lru.js';
import { cookieValue } from '../../http/headers/cookie.js';
import type { Request } from '../../http/request/request.js';
import type { KeyvalZone } from '../../lookup/keyval-zone.js';
import { setCookie } from './cookies.js';
import { isSecure } from './own-address.js';
import { deriveKey, randomText, seal, unseal } from './seal.js';
import { type LoginData, LoginSession, readSession, writeSession } from './session.js';
import { LOCK_MS, type LoginStore, MAX_STORED, REMEMBERED } from './session-store.js';
import type { ProviderSettings } from './settings.js';

/** A session as this worker has opened it. */
interface Opened {
  readonly stored: string;
  readonly session: LoginSession;
}

/** The session of a request, with the key that its pair is encrypted with. */
class ZoneSession extends LoginSession {
  readonly secret: Buffer;

  constructor(data: LoginData, key: string, purpose: string, secret: Buffer) {
    super(data, key, purpose);
    this.secret = secret;
  }
}

/**
 * Sessions in a keyval zone. The cookie is a random text, of which the pair's name and the key of its value are derived: whoever reads the
 * zone, its state file or the API has neither tokens nor what a browser must send.
 */
export class ZoneSessions implements LoginStore {
  readonly #settings: ProviderSettings;
  readonly #zone: KeyvalZone;
  /** What ties a session to one provider, even in a zone that several share. */
  readonly #purpose: string;
  readonly #opened = new Lru<Opened>(REMEMBERED);
  readonly #keys = new Lru<{ readonly key: string; readonly secret: Buffer }>(4096);
  readonly #find: (name: string) => string | undefined;
  /** In small letters. */
  readonly #cookieName: string;
  readonly #length = randomText().length;

  constructor(settings: ProviderSettings, zone: KeyvalZone, purpose: string) {
    this.#settings = settings;
    this.#zone = zone;
    this.#purpose = purpose;
    this.#find = (name) => zone.find(name);
    this.#cookieName = settings.cookieName.toLowerCase();
  }

  find(r: Request): LoginSession | undefined {
    const cookie = cookieValue(r, this.#cookieName);
    if (cookie === undefined || cookie.length !== this.#length) {
      return undefined;
    }
    const { key, secret } = this.#keyOf(cookie);
    return this.#open(key, secret);
  }

  create(r: Request, data: LoginData, done: (outcome: LoginSession | string) => void): void {
    const cookie = randomText();
    const { key, secret } = this.#keyOf(cookie);
    this.#put(key, secret, data, (session) => {
      if (session === undefined) {
        done(`the session is too long, or the zone "${this.#zone.name}" has no room for it`);
        return;
      }
      setCookie(r, this.#settings.cookieName, cookie, isSecure(r, this.#settings));
      done(session);
    });
  }

  show(): void {
    // The cookie stays the same.
  }

  look(session: LoginSession): LoginSession | undefined {
    return this.#open(session.key, (session as ZoneSession).secret);
  }

  lock({ key, data }: LoginSession, done: (outcome: 'mine' | 'theirs') => void): void {
    lockPair(this.#zone, `lock:${key}`, data.refreshes, done);
  }

  unlock({ key }: LoginSession): void {
    this.#zone.later((changes) => changes.delete(`lock:${key}`));
  }

  refresh(session: LoginSession, data: LoginData, done: (outcome: LoginSession | undefined) => void): void {
    this.#put(session.key, (session as ZoneSession).secret, data, done, true);
  }

  end({ key }: LoginSession, done: () => void): void {
    this.#opened.delete(key);
    this.#zone.later((changes) => {
      changes.delete(key);
      changes.delete(`lock:${key}`);
    }, done);
  }

  forget(r: Request): void {
    setCookie(r, this.#settings.cookieName, '', isSecure(r, this.#settings));
  }

  #keyOf(cookie: string): { readonly key: string; readonly secret: Buffer } {
    let keys = this.#keys.get(cookie);
    if (keys === undefined) {
      const text = Buffer.from(cookie);
      keys = { key: deriveKey(text, `name ${this.#purpose}`).toString('base64url'), secret: deriveKey(text, `session ${this.#purpose}`) };
      this.#keys.set(cookie, keys);
    }
    return keys;
  }

  #open(key: string, secret: Buffer): LoginSession | undefined {
    const stored = this.#zone.find(key);
    if (stored === undefined) {
      this.#opened.delete(key);
      return undefined;
    }
    let opened = this.#opened.get(key);
    if (opened === undefined || opened.stored !== stored) {
      const bytes = unseal([secret], stored, this.#purpose);
      const data = bytes === undefined ? undefined : readSession(bytes);
      if (data === undefined) {
        return undefined;
      }
      opened = { stored, session: new ZoneSession(data, key, this.#purpose, secret) };
      this.#opened.set(key, opened, stored.length);
    }
    return opened.session.isOver(Date.now(), this.#find) ? undefined : opened.session;
  }

  /** `again`: only in the place of one that is there, since a logout may have ended it meanwhile. */
  #put(key: string, secret: Buffer, data: LoginData, done: (outcome: LoginSession | undefined) => void, again = false): void {
    const value = seal(secret, writeSession(data), this.#purpose);
    if (value.length > MAX_STORED) {
      done(undefined);
      return;
    }
    this.#zone.later(
      (changes) => {
        changes.delete(`lock:${key}`);
        return (!again || changes.get(key) !== undefined) && changes.put(key, { value, expires: data.until });
      },
      (stored) => done(stored ? new ZoneSession(data, key, this.#purpose, secret) : undefined),
    );
  }
}

/** Puts a lock, unless somebody has it; it ends by itself. Without room for one, everybody gets it. */
export function lockPair(zone: KeyvalZone, name: string, refreshes: number, done: (outcome: 'mine' | 'theirs') => void): void {
  zone.later((changes) => {
    if (changes.get(name) !== undefined) {
      return 'theirs';
    }
    changes.put(name, { value: String(refreshes), expires: Date.now() + LOCK_MS });
    return 'mine';
  }, done);
}
