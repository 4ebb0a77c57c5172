import type { Peer } from '../../upstream/balancing/peer.js';
import { type CheckResult, PeerCheck } from '../../upstream/health/peer-check.js';
import type { StreamCheckPlan } from './plan.js';
import { CheckInput } from './received.js';

/** What checks of `stream` have in common: what has to come, if anything has. */
export abstract class StreamCheck extends PeerCheck {
  protected readonly plan: StreamCheckPlan;
  protected readonly input: CheckInput;

  constructor(plan: StreamCheckPlan, peer: Peer, verdict: number, result: CheckResult) {
    super(plan.settings, peer, verdict, result);
    this.plan = plan;
    this.input = new CheckInput(plan);
  }

  protected abstract end(failure: string | undefined): void;

  /** The first `length` of these bytes came, where something is expected. */
  protected judge(bytes: Buffer, length: number): void {
    this.input.add(bytes, length);
    if (this.input.matches) {
      this.end(undefined);
    } else if (this.input.full) {
      this.end('checking data');
    }
  }
}
