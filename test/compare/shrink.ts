import type { Axis } from './axes.js';
import type { Answer, Case, Client, Field, Part, Request } from './case.js';
import type { Compared, Difference } from './differences.js';
import { unnamedOf } from './rules.js';
import type { Runner } from './runner.js';

/** Rounds of a search; each makes the case smaller. */
const ROUNDS = 30;

/** What is different in what is compared, without its number. */
export const kindOf = ({ what }: Difference): string => what.replace(/\d+/g, 'N');

/** The smallest case found that is different on an axis in the same thing. */
export async function shrink(runner: Runner, one: Case, axis: Axis, kind: string): Promise<Compared | undefined> {
  let smallest: Compared | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const candidates = smallest === undefined ? [one, ...smaller(one)] : smaller(smallest.case);
    if (candidates.length === 0) {
      return smallest;
    }
    const still: Compared[] = [];
    const results = {
      compared: (each: Compared) => void (unnamedOf(each).some((found) => kindOf(found) === kind) ? still.push(each) : 0),
      refused: () => {},
      passing: () => {},
    };
    // Most candidates are late where one was: the longest waits would take hours.
    await playEach(runner, candidates, axis, results);
    const best = still.sort((a, b) => sizeOf(a.case) - sizeOf(b.case))[0];
    if (best === undefined || (smallest !== undefined && sizeOf(best.case) >= sizeOf(smallest.case))) {
      return smallest;
    }
    smallest = best;
  }
  return smallest;
}

/** Plays cases, less those that a server refuses in words that do not say which it means. */
async function playEach(runner: Runner, cases: readonly Case[], axis: Axis, results: Parameters<Runner['play']>[2]): Promise<void> {
  try {
    await runner.play(cases, [axis], results, { again: 1 });
  } catch {
    const half = cases.length >> 1;
    if (half > 0) {
      await playEach(runner, cases.slice(0, half), axis, results);
      await playEach(runner, cases.slice(half), axis, results);
    }
  }
}

const sizeOf = (one: Case): number => JSON.stringify(one).length;

/** Each of a list without one of its elements. */
const without = <T>(list: readonly T[]): T[][] => list.map((_, i) => list.filter((_each, j) => j !== i));

/** Cases that have a little less. */
function smaller(one: Case): Case[] {
  const { parts, client, answer } = one;
  return [
    ...without(parts).map((fewer) => ({ ...one, parts: fewer })),
    ...parts.flatMap((part, i) => smallerParts(part).map((less) => ({ ...one, parts: parts.map((each, j) => (i === j ? less : each)) }))),
    ...smallerClients(client).map((less) => ({ ...one, client: less })),
    ...smallerAnswers(answer).map((less) => ({ ...one, answer: less })),
  ].filter((each) => sizeOf(each) < sizeOf(one));
}

/** Directives of a text, when these are simple. */
const directives = (text: string): string[] => (text.includes('{') ? [] : text.split(/(?<=;)\s+/).filter((each) => each !== ''));

function smallerParts(part: Part): Part[] {
  return (['http', 'server', 'location', 'stream', 'session'] as const).flatMap((of) => {
    const list = directives(part[of] ?? '');
    return list.length < 2 ? [] : without(list).map((fewer) => ({ ...part, [of]: fewer.join(' ') }));
  });
}

const withoutKey = <T extends object>(from: T, key: keyof T): T => {
  const { [key]: _gone, ...rest } = from;
  return rest as T;
};

function smallerClients(client: Client): Client[] {
  const { requests } = client;
  return [
    ...(requests.length > 1 ? without(requests).map((fewer) => ({ ...withoutKey(client, 'pipelined'), requests: fewer })) : []),
    ...(['slow', 'leave', 'waits', 'cancel', 'through'] as const).map((key) => withoutKey(client, key)),
    ...requests.flatMap((request, i) =>
      smallerRequests(request).map((less) => ({ ...client, requests: requests.map((each, j) => (i === j ? less : each)) })),
    ),
  ];
}

const smallerFields = (fields: readonly Field[]): Field[][] => without(fields);

function smallerRequests(request: Request): Request[] {
  const { fields, body } = request;
  return [
    ...smallerFields(fields).map((fewer) => ({ ...request, fields: fewer })),
    ...(body === undefined
      ? []
      : [
          withoutKey(request, 'body'),
          { ...request, body: { ...body, text: 'x', times: 1 } },
          { ...request, body: { text: '', framing: body.framing } },
        ]),
    ...(body?.framing === 'length' || body === undefined ? [] : [{ ...request, body: { ...body, framing: 'length' as const } }]),
    { ...request, target: '/at/' },
    { ...request, target: request.target.replace(/\?.*$/, '') },
    { ...request, method: 'GET' },
  ];
}

function smallerAnswers(answer: Answer): Answer[] {
  return [
    { status: 200, fields: [], body: { text: '' }, framing: 'length' },
    ...(['interim', 'leave', 'bytewise', 'raw', 'ranges', 'handshake'] as const).map((key) => withoutKey(answer, key)),
    ...smallerFields(answer.fields).map((fewer) => ({ ...answer, fields: fewer })),
    { ...answer, body: { text: 'x' } },
    { ...answer, body: { text: '' } },
    ...(answer.framing === 'length' ? [] : [{ ...answer, framing: 'length' as const }]),
  ];
}
