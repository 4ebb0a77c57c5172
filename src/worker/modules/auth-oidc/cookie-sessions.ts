import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Lru } from '../../../shared/collection/lru.js';
import { cookieValue } from '../../http/headers/cookie.js';
import { headSlot } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import type { KeyvalZone } from '../../lookup/keyval-zone.js';
import { cookieNamed, setCookie } from './cookies.js';
import { isSecure } from './own-address.js';
import { digestText, seal, unseal } from './seal.js';
import { type LoginData, LoginSession, readSession, writeSession } from './session.js';
import { LOCK_MS, type LoginStore, MAX_STORED, REMEMBERED } from './session-store.js';
import type { ProviderSettings } from './settings.js';
import { lockPair } from './zone-sessions.js';

/** The longest value of one cookie: browsers take 4096 characters with its name. */
const CHUNK = 3800;
/** How many cookies a session may have. */
const MAX_CHUNKS = 8;
/** What other cookies and headers of a line may take, of what `large_client_header_buffers` allows. */
const OTHERS = 1024;
/** How long (milliseconds) a refreshed session waits in the zone for requests that still have the cookies from before. */
const HANDOVER_MS = 120_000;
const MAX_BYTES = 128 * 1024;
/** The digit 0. */
const ZERO = 48;

/**
 * Sessions in encrypted cookies. The zone holds none of them; it has the locks of refreshes, what came of those for requests that were
 * under way, and which sessions were ended.
 */
export class CookieSessions implements LoginStore {
  readonly #settings: ProviderSettings;
  readonly #zone: KeyvalZone;
  readonly #keys: readonly Buffer[];
  readonly #purpose: string;
  readonly #opened = new Lru<LoginSession>(REMEMBERED);
  readonly #find: (name: string) => string | undefined;
  /** The names of the cookies in small letters, as requests are searched for them. */
  readonly #lowerNames: readonly string[];

  constructor(settings: ProviderSettings, zone: KeyvalZone, keys: readonly Buffer[], purpose: string) {
    this.#settings = settings;
    this.#zone = zone;
    this.#keys = keys;
    this.#purpose = purpose;
    this.#find = (name) => zone.find(name);
    this.#lowerNames = Array.from({ length: MAX_CHUNKS }, (_, i) => this.#chunkName(i).toLowerCase());
  }

  find(r: Request): LoginSession | undefined {
    const text = this.#cookies(r);
    const session = text === undefined ? undefined : this.#open(text);
    return session === undefined || this.#isOver(session) ? undefined : session;
  }

  create(r: Request, data: LoginData, done: (outcome: LoginSession | string) => void): void {
    const bytes = writeSession(data);
    const text = bytes.length > MAX_BYTES ? '' : this.#seal(data);
    if (text === '') {
      done(`the session has ${bytes.length} bytes, too many to keep`);
      return;
    }
    // The browser sends all its cookies in one line.
    const room = r.server.conf(headSlot).headLimits.largeBufferSize - OTHERS;
    if (text.length > Math.min(room, CHUNK * MAX_CHUNKS)) {
      done(`the session has ${text.length} characters, too many for cookies that fit into "large_client_header_buffers"`);
      return;
    }
    this.#write(r, text);
    done(new LoginSession(data, keyOf(data), this.#purpose));
  }

  show(r: Request, { data }: LoginSession): void {
    this.#write(r, this.#seal(data));
  }

  look(session: LoginSession): LoginSession | undefined {
    const later = this.#zone.find(nextName(session));
    const found = (later === undefined ? undefined : this.#open(later)) ?? session;
    return this.#isOver(found) ? undefined : found;
  }

  lock(session: LoginSession, done: (outcome: 'mine' | 'theirs') => void): void {
    lockPair(this.#zone, `lock:${session.key}`, session.data.refreshes, done);
  }

  unlock({ key }: LoginSession): void {
    this.#zone.later((changes) => changes.delete(`lock:${key}`));
  }

  refresh(session: LoginSession, data: LoginData, done: (outcome: LoginSession | undefined) => void): void {
    const value = this.#seal(data);
    const next = new LoginSession(data, session.key, this.#purpose);
    this.#zone.later(
      (changes) => {
        changes.delete(`lock:${session.key}`);
        // Without room, the browser still gets its cookies.
        changes.put(nextName(session), { value, expires: Date.now() + HANDOVER_MS });
      },
      () => done(next),
    );
  }

  end({ key }: LoginSession, done: () => void): void {
    this.#zone.later((changes) => {
      changes.put(endName(key), { value: '1', expires: Date.now() + this.#settings.sessionTimeout + LOCK_MS });
      changes.delete(`lock:${key}`);
    }, done);
  }

  forget(r: Request): void {
    this.#write(r, '');
  }

  #isOver(session: LoginSession): boolean {
    return this.#zone.find(endName(session.key)) !== undefined || session.isOver(Date.now(), this.#find);
  }

  #chunkName(i: number): string {
    return i === 0 ? this.#settings.cookieName : `${this.#settings.cookieName}_${i}`;
  }

  #cookies(r: Request): string | undefined {
    const first = cookieValue(r, this.#lowerNames[0]!);
    const count = first === undefined || first[1] !== '.' ? 0 : first.charCodeAt(0) - ZERO;
    if (first === undefined || count < 1 || count > MAX_CHUNKS) {
      return undefined;
    }
    let text = first.slice(2);
    for (let i = 1; i < count; i++) {
      text += cookieValue(r, this.#lowerNames[i]!) ?? '';
    }
    return text;
  }

  /** Gives the browser the cookies of a text, and takes back those that are too many. */
  #write(r: Request, text: string): void {
    const secure = isSecure(r, this.#settings);
    const count = Math.ceil(text.length / CHUNK);
    for (let i = 0; i < MAX_CHUNKS; i++) {
      const name = this.#chunkName(i);
      const piece = text.slice(i * CHUNK, (i + 1) * CHUNK);
      if (piece !== '') {
        setCookie(r, name, i === 0 ? `${count}.${piece}` : piece, secure);
      } else if (i === 0 || cookieNamed(r, name) !== undefined) {
        setCookie(r, name, '', secure);
      }
    }
  }

  #seal(data: LoginData): string {
    return seal(this.#keys[0]!, deflateRawSync(writeSession(data)), this.#purpose);
  }

  #open(text: string): LoginSession | undefined {
    const known = this.#opened.get(text);
    if (known !== undefined) {
      return known;
    }
    const packed = text.length > MAX_STORED ? undefined : unseal(this.#keys, text, this.#purpose);
    const data = packed === undefined ? undefined : readSession(unpack(packed));
    if (data === undefined) {
      return undefined;
    }
    const session = new LoginSession(data, keyOf(data), this.#purpose);
    this.#opened.set(text, session, text.length);
    return session;
  }
}

function unpack(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: MAX_BYTES });
  } catch {
    // A refresh has made it longer than may be.
    return Buffer.alloc(0);
  }
}

const keyOf = ({ id }: LoginData): string => digestText(id);
const endName = (key: string): string => `ended:${key}`;
const nextName = ({ key, data }: LoginSession): string => `next:${key}:${data.refreshes}`;
