// A process that works on zones as a worker does, driven by messages. Each answer carries the number of its question.

import type { ZonePlan } from '../../../src/shared/zone/plan.js';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';
import { ENTERED } from '../../../src/worker/modules/limit-conn/zone.js';
import { RateDecision } from '../../../src/worker/modules/limit-req/zone.js';
import { conn, rate } from './zones.js';

export type Question =
  | { readonly op: 'open'; readonly plan: ZonePlan }
  /** Asks for `n` requests at once, in one turn or in as many. Answers with the number admitted. */
  | {
      readonly op: 'request';
      readonly n: number;
      readonly burst: number;
      readonly at: number;
      readonly turns?: boolean;
      readonly key?: string;
    }
  | { readonly op: 'enter'; readonly n: number; readonly max: number; readonly key?: string }
  /** Gives back up to `n` places. Answers with how many it had. */
  | { readonly op: 'leave'; readonly n: number; readonly key?: string }
  /** Answers with what the zone's messages were since the last such question. */
  | { readonly op: 'messages' };

const messages: string[] = [];
const held: Record<string, number> = {};
const log = { level: 8 as const, log: (_level: number, message: string) => void messages.push(message) };
let store: SqliteZoneStore;

const turn = () => new Promise((resolve) => setImmediate(resolve));

const decided = (key: string, burst: number, at: number): Promise<boolean> =>
  new Promise((resolve) => {
    const decision = new RateDecision();
    const limits = [{ zone: store.open(rate), rate: 1000, burst: burst * 1000, delay: Number.MAX_SAFE_INTEGER }];
    store.together([rate]).submit({ work: () => decision.decide(limits, [key], at), after: () => resolve(decision.code === 0) });
  });

const entered = (key: string, max: number): Promise<boolean> =>
  new Promise((resolve) => {
    let code: number;
    store.together([conn]).submit({
      work() {
        code = store.open(conn).enter(key, max);
      },
      after: () => resolve(code === ENTERED),
    });
  });

async function answer(question: Question): Promise<unknown> {
  switch (question.op) {
    case 'open':
      store = new SqliteZoneStore(question.plan, [rate, conn], process.pid, log);
      store.open(rate);
      store.open(conn);
      return true;
    case 'request': {
      const answers: Promise<boolean>[] = [];
      for (let i = 0; i < question.n; i++) {
        answers.push(decided(question.key ?? 'key', question.burst, question.at));
        if (question.turns) {
          await turn();
        }
      }
      return (await Promise.all(answers)).filter(Boolean).length;
    }
    case 'enter': {
      const answers: Promise<boolean>[] = [];
      const key = question.key ?? 'key';
      for (let i = 0; i < question.n; i++) {
        answers.push(entered(key, question.max));
      }
      const admitted = (await Promise.all(answers)).filter(Boolean).length;
      held[key] = (held[key] ?? 0) + admitted;
      return admitted;
    }
    case 'leave': {
      const key = question.key ?? 'key';
      const n = Math.min(question.n, held[key] ?? 0);
      for (let i = 0; i < n; i++) {
        store.open(conn).leave(key);
      }
      held[key] = (held[key] ?? 0) - n;
      // The places are free once a later job of the same zone is done.
      await entered('other', 1000);
      return n;
    }
    case 'messages':
      return messages.splice(0);
  }
}

process.on('message', async ({ id, question }: { id: number; question: Question }) => {
  process.send!({ id, answer: await answer(question) });
});
process.on('disconnect', () => process.exit());
