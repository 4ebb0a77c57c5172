import type { HeaderOut } from '../../http/request/headers-out.js';
import type { Request } from '../../http/request/request.js';
import type { Attempt } from '../../upstream/balancing/attempt.js';
import { type Balancer, PICKING, type Picker, type PickerOwner } from '../../upstream/balancing/balancer.js';
import { PEER_OK, type Peer } from '../../upstream/balancing/peer.js';
import { stickyCookieText } from './cookie.js';
import type { Sessions } from './sessions.js';
import type { StickySettings } from './settings.js';
import type { StickySession } from './zone.js';

/** Tells a group's balancer which server a request's session belongs to. nginx: ngx_http_upstream_sticky_init_peer. */
export class StickyBalancer implements Balancer {
  readonly settings: StickySettings;
  readonly sessions: Sessions | undefined;
  readonly #inner: Balancer;

  constructor(inner: Balancer, settings: StickySettings, sessions: Sessions | undefined) {
    this.#inner = inner;
    this.settings = settings;
    this.sessions = sessions;
  }

  begin(r: Request): StickyPicker {
    return new StickyPicker(r, this, this.#inner.begin(r));
  }
}

/** The first of some variables that says something. nginx: ngx_http_upstream_sticky_get_id. */
function firstValue(r: Request, slots: readonly number[]): string {
  for (let i = 0; i < slots.length; i++) {
    const value = r.http.variables.fresh(r, slots[i]!);
    if (value !== undefined && value !== '') {
      return value;
    }
  }
  return '';
}

/** nginx: ngx_http_upstream_sticky_peer_data_t. */
class StickyPicker implements Picker, PickerOwner {
  readonly #r: Request;
  readonly #balancer: StickyBalancer;
  readonly #inner: Picker;
  /** The server, or in `learn` the key of the session, that the request asks for; empty for none. */
  readonly #wanted: string;
  /** What was found of the session. */
  #session: StickySession | undefined = undefined;
  #cookie: HeaderOut | undefined = undefined;
  #owner: PickerOwner | undefined = undefined;

  constructor(r: Request, balancer: StickyBalancer, inner: Picker) {
    this.#r = r;
    this.#balancer = balancer;
    this.#inner = inner;
    const id = firstValue(r, balancer.settings.lookup);
    this.#wanted = id === '' || balancer.sessions === undefined ? id : balancer.sessions.key(id);
  }

  get tries(): number {
    return this.#inner.tries;
  }

  set tries(tries: number) {
    this.#inner.tries = tries;
  }

  get groupName(): string {
    return this.#inner.groupName;
  }

  // nginx: ngx_http_upstream_sticky_get_peer.
  next(owner: PickerOwner): Peer | null | typeof PICKING {
    if (this.#wanted !== '') {
      this.#inner.hint = this.#findServer();
    }
    this.#owner = owner;
    const peer = this.#inner.next(this);
    if (peer !== PICKING && peer !== null) {
      this.#setCookie(peer);
    }
    return peer;
  }

  picked(peer: Peer | null): void {
    if (peer !== null) {
      this.#setCookie(peer);
    }
    this.#owner!.picked(peer);
  }

  #findServer(): string | undefined {
    const { sessions } = this.#balancer;
    if (sessions === undefined) {
      return this.#wanted;
    }
    this.#session = sessions.find(this.#wanted);
    return this.#session?.sid;
  }

  /** Each attempt's server replaces the one before in the cookie. */
  #setCookie(peer: Peer): void {
    const { cookie } = this.#balancer.settings;
    if (cookie === undefined) {
      return;
    }
    const text = stickyCookieText(this.#r, cookie, peer.sid);
    if (this.#cookie === undefined) {
      this.#cookie = this.#r.out.add('Set-Cookie', text);
    } else {
      this.#cookie.value = text;
    }
  }

  headerReceived(peer: Peer, attempt: Attempt): void {
    if (this.#balancer.settings.afterHeader) {
      this.#learn(peer);
    }
    this.#inner.headerReceived?.(peer, attempt);
  }

  // nginx: ngx_http_upstream_sticky_free_peer.
  done(peer: Peer, state: number, attempt: Attempt | null): void {
    if (state === PEER_OK && attempt !== null && !this.#balancer.settings.afterHeader) {
      this.#learn(peer);
    }
    this.#inner.done(peer, state, attempt);
  }

  // nginx: ngx_http_upstream_sticky_learn_peer.
  #learn(peer: Peer): void {
    const { sessions, settings } = this.#balancer;
    if (sessions === undefined) {
      return;
    }
    const id = firstValue(this.#r, settings.create);
    const key = id === '' ? this.#wanted : sessions.key(id);
    if (key !== '') {
      sessions.learn(key, peer.sid, id !== '', key === this.#wanted ? this.#session : undefined);
    }
  }
}
