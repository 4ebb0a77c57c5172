import type { Snapshot } from '../../shared/config/configuration.js';
import { complete, RequestError } from '../explain/explain-request.js';
import { usualPort } from '../explain/rehearsed-places.js';
import { Rehearsal, RehearsalError, type Rehearsed } from '../rehearsal/rehearsal.js';
import type { StubAnswer, StubBackend } from '../rehearsal/stub-backend.js';
import { checkCase, type Failure } from './case-check.js';
import type { Case } from './case-file.js';

/** What became of a case. */
export interface CaseResult {
  readonly file: string;
  readonly case: Case;
  readonly failures: readonly Failure[];
  /** The request could not be made at all. */
  readonly error: string | undefined;
  readonly milliseconds: number;
}

/** Everything was as the case expects. */
export const passed = ({ failures, error }: CaseResult): boolean => failures.length === 0 && error === undefined;

/** Runs cases on one configuration, each as if it was the first: what limits count and which backend's turn it is begins anew. */
export class CaseRunner {
  readonly #snapshot: Snapshot;
  #rehearsal: Rehearsal;
  /** The case before has left something behind. */
  #used = false;

  /** Throws {@link RehearsalError} when the configuration has no `http` block. */
  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#rehearsal = new Rehearsal(snapshot);
  }

  async run(file: string, one: Case): Promise<CaseResult> {
    const began = performance.now();
    const result = (failures: readonly Failure[], error?: string): CaseResult => {
      return { file, case: one, failures, error, milliseconds: performance.now() - began };
    };
    try {
      return result(checkCase(one, await this.outcomeOf(one)));
    } catch (error) {
      if (error instanceof RehearsalError || error instanceof RequestError) {
        return result([], error.message);
      }
      throw error;
    }
  }

  /** What comes of a case's request, the last time that it is sent. */
  async outcomeOf(one: Case): Promise<Rehearsed> {
    if (this.#used) {
      this.#rehearsal.close();
      this.#rehearsal = new Rehearsal(this.#snapshot);
      this.#used = false;
    }
    const { request, options } = complete(one.request, usualPort(this.#rehearsal));
    const circumstances = { ...options, now: one.now, stub: stubOf(one) };
    let outcome = await this.#rehearsal.run(request, circumstances);
    for (let sent = 1; sent < one.repeat; sent++) {
      outcome = await this.#rehearsal.run(request, circumstances);
    }
    this.#used = leavesTraces(outcome) || one.repeat > 1;
    return outcome;
  }

  close(): void {
    this.#rehearsal.close();
  }
}

/** A request that was counted, that chose among backends or found one that fails is felt by the next. */
function leavesTraces({ limitKeys, trace }: Rehearsed): boolean {
  return limitKeys.length > 0 || trace.some(({ kind, data }) => kind === 'upstream' && (data.others === true || data.failed === true));
}

const NOTHING_GIVEN: StubAnswer = { status: 200, body: '' };

function stubOf({ stubs }: Case): StubBackend {
  return (peer, request) => {
    const { answer = NOTHING_GIVEN } = stubs.find((each) => each.peer === undefined || each.peer === peer) ?? {};
    // The connection itself is there unless it is refused.
    return request === undefined && answer.fails !== 'refused' ? {} : answer;
  };
}
