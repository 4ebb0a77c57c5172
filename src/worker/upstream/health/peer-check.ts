import { setTimer } from '../../../shared/time/timer.js';
import { addressText } from '../../address/backend-url.js';
import { defaultPeerOptions, Peer } from '../balancing/peer.js';
import type { CheckSettings } from './settings.js';

/** Told of each finished check. `failure` says, in words that follow "while", what went wrong. */
export type CheckResult = (check: PeerCheck, failure: string | undefined) => void;

/** A `health_check` line, as the group's peers are checked by it. */
export interface CheckPlan {
  readonly settings: CheckSettings;
  /** Begins the checks of a peer, about which it is known so far what `verdict` says. */
  check(peer: Peer, verdict: number, result: CheckResult): PeerCheck;
}

/** The checks of one peer by one `health_check` line, one after another. What a check does, its protocol says. */
export abstract class PeerCheck {
  readonly settings: CheckSettings;
  readonly peer: Peer;
  /** Checks in a row that went well, or badly. */
  passes = 0;
  fails = 0;
  /** What the checks say: one of HEALTHY, UNHEALTHY and UNKNOWN. */
  verdict: number;
  /** Where the checks go: the peer, or another port of it. */
  protected readonly target: Peer;
  readonly #result: CheckResult;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(settings: CheckSettings, peer: Peer, verdict: number, result: CheckResult) {
    this.settings = settings;
    this.peer = peer;
    this.verdict = verdict;
    this.#result = result;
    const { port } = settings;
    this.target =
      port === 0 || peer.port === 0 ? peer : new Peer(addressText(peer.address, port), peer.server, peer.address, port, defaultPeerOptions);
    this.#wait(Math.random() * settings.jitter);
  }

  /** Makes one check, which ends with {@link finish}. */
  protected abstract begin(): void;
  /** Closes what a check has open. */
  protected abstract drop(): void;

  /** Ends the checks; nothing is reported any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.drop();
  }

  /** The check at hand is over; the next one follows in due time. */
  protected finish(failure: string | undefined): void {
    if (this.#stopped) {
      return;
    }
    const { interval, jitter } = this.settings;
    this.#wait(interval + Math.random() * jitter);
    this.#result(this, failure);
  }

  #wait(ms: number): void {
    this.#timer = setTimer(() => this.begin(), ms).unref();
  }
}
