import { In } from '../../../shared/config/context.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Attempt } from '../../upstream/balancing/attempt.js';
import { chooseLeast } from '../../upstream/balancing/least-choice.js';
import { PEER_FAILED, PEER_NEXT, type Peer, type PeerSet } from '../../upstream/balancing/peer.js';
import { RoundRobinPicker } from '../../upstream/balancing/round-robin.js';
import { setBalancer } from '../../upstream/group/balancer-directive.js';
import { ACCEPTS_ALL } from '../../upstream/group/group-config.js';

/** What is waited for in an attempt: its response's head, the connection, the first byte, or the end. */
type Event = 'header' | 'connect' | 'first_byte' | 'last_byte';

/** Which time counts, and whether requests or sessions under way do, too. */
interface Mode {
  readonly event: Event;
  readonly inflight: boolean;
  readonly ofSessions: boolean;
}

const OF_REQUESTS: readonly Event[] = ['header', 'last_byte'];
const OF_SESSIONS: readonly Event[] = ['connect', 'first_byte', 'last_byte'];

/** Times beyond this many milliseconds are all alike. */
const SLOWEST = 5000;
/** Times within so many milliseconds are all alike. */
const CLUSTER = 20;

/** A mean that follows new values slowly. nginx: ngx_http_upstream_response_time_avg. */
const mean = (before: number, now: number): number => (before === 0 ? now : Math.floor(0.5 + now * 0.05 + before * 0.95));

class LeastTimePicker extends RoundRobinPicker {
  readonly #mode: Mode;
  #counted = false;

  constructor(r: ClientTask, set: PeerSet, mode: Mode) {
    super(r, set);
    this.#mode = mode;
  }

  get timesConnections(): boolean {
    return this.#mode.inflight && this.#mode.event === 'connect';
  }

  // nginx: ngx_http_upstream_get_least_time_peer.
  override choose(): Peer | null {
    const now = nowSeconds();
    const ms = Date.now();
    let best = this.sticky();
    if (best === null) {
      for (const peer of this.set.peers) {
        if (peer.inflightRequests === 0 || this.wasTried(peer.index) || !this.usable(peer, now)) {
          continue;
        }
        const waiting = Math.floor(peer.inflightLast / peer.inflightRequests) + (ms - peer.inflightChanged);
        peer.inflightTime = mean(peer.inflightTime, waiting);
      }
      best = chooseLeast(this, now, (peer) => this.#estimate(peer, now));
    }
    if (best === null) {
      return null;
    }
    if (this.#mode.inflight) {
      if (best.inflightRequests > 0) {
        best.inflightLast += (ms - best.inflightChanged) * best.inflightRequests;
      }
      best.inflightChanged = ms;
      best.inflightRequests++;
      this.#counted = true;
    }
    return this.take(best, now);
  }

  /** The time a peer is expected to need for what it has to do. nginx: ngx_http_upstream_least_time_eta. */
  #estimate(peer: Peer, now: number): number {
    let time = this.#mode.event === 'last_byte' ? peer.responseTime : peer.headerTime;
    // A slow peer gets another chance now and then.
    if (now - peer.checked > peer.failTimeout) {
      time = Math.floor(time / 2 ** Math.floor((now - peer.checked) / (peer.failTimeout + 1)));
    }
    if (peer.inflightRequests > 0) {
      time = Math.max(time, peer.inflightTime);
    }
    time = time > SLOWEST ? SLOWEST : time + CLUSTER - (time % CLUSTER);
    return time * (1 + peer.conns);
  }

  // nginx: ngx_http_upstream_least_time_notify, ngx_stream_upstream_notify_least_time_peer.
  headerReceived(peer: Peer, attempt: Attempt): void {
    const { event } = this.#mode;
    if (event === 'header' || event === 'first_byte') {
      this.#reached(peer, attempt.headerTime);
    }
  }

  override connected(peer: Peer, attempt: Attempt | null): void {
    if (this.#mode.event === 'connect' && attempt !== null) {
      this.#reached(peer, attempt.connectTime);
    }
    super.connected(peer, attempt);
  }

  /** What is waited for has come. */
  #reached(peer: Peer, ms: number): void {
    if (!this.#mode.inflight) {
      return;
    }
    const time = Math.floor(ms);
    peer.headerTime = mean(peer.headerTime, time);
    if (this.#counted) {
      this.#uncount(peer, time);
    }
  }

  // nginx: ngx_http_upstream_least_time_inflight_done.
  #uncount(peer: Peer, time: number): void {
    const ms = Date.now();
    if (peer.inflightRequests === 1) {
      peer.inflightLast = 0;
    } else {
      peer.inflightLast += (ms - peer.inflightChanged) * peer.inflightRequests - time;
      peer.inflightChanged = ms;
    }
    peer.inflightRequests--;
    this.#counted = false;
  }

  // nginx: ngx_http_upstream_free_least_time_peer, ngx_stream_upstream_free_least_time_peer.
  override done(peer: Peer, state: number, attempt: Attempt | null): void {
    const { inflight, event, ofSessions } = this.#mode;
    if (this.#counted) {
      this.#uncount(peer, Math.max(Math.floor(attempt?.responseTime ?? 0), 0));
    }
    if ((state & (PEER_FAILED | PEER_NEXT)) === 0 && attempt !== null) {
      const early = event === 'connect' ? attempt.connectTime : attempt.headerTime;
      // A session tells how long it took though its server may not have said a word.
      if (early !== -1 || ofSessions) {
        peer.responseTime = mean(peer.responseTime, Math.floor(attempt.responseTime));
      }
      if (early !== -1 && (!inflight || event === 'last_byte')) {
        peer.headerTime = mean(peer.headerTime, Math.floor(early));
      }
    }
    super.done(peer, state, attempt);
  }
}

/** Asks the server that is expected to answer first. nginx: ngx_http_upstream_least_time_module, ngx_stream_upstream_least_time_module. */
export const leastTimeModule = defineModule({
  name: 'least_time',
  main: defineSharedScope<object>({
    fields: {},
    directives: {
      least_time: {
        in: In.UPSTREAM | In.STREAM_UPSTREAM,
        args: [1, 2],
        set(_conf, node, ctx) {
          if (ctx.block.seen('least_time') !== undefined) {
            ctx.reject('is duplicate');
          }
          const [which, inflight] = node.args as [string, string | undefined];
          if (inflight !== undefined && inflight !== 'inflight') {
            ctx.fail(`invalid parameter "${inflight}"`, { arg: 1 });
          }
          const word = which.toLowerCase();
          const ofSessions = ctx.block.context === In.STREAM_UPSTREAM;
          const events = ofSessions ? OF_SESSIONS : OF_REQUESTS;
          const event = events.find((known) => known === word);
          if (event === undefined) {
            return ctx.fail(`invalid value "${which}"`, { arg: 0, hint: `it is one of ${events.join(', ')}` });
          }
          const mode: Mode = { event, inflight: inflight !== undefined, ofSessions };
          setBalancer(ctx, (set) => ({ begin: (r) => new LeastTimePicker(r, set, mode) }), ACCEPTS_ALL);
        },
      },
    },
  }),
});
