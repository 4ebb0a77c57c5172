import type { CertificatePair } from '../acme/acme-zone.js';
import { generateKey } from '../acme/key-kind.js';
import type { AcmeIssuer, Order } from '../acme/settings.js';
import type { StateStore } from '../acme/state-folder.js';
import { certificatesOf, checkToken, orderedIdentifier } from './ca-words.js';
import { checkCertificate } from './check-certificate.js';
import { type CaClient, makeCertificateRequest, type RemoteOrder } from './client.js';
import type { Pace } from './pace.js';
import { AcmeProblem, caWords, complaint } from './problem.js';
import type { Solve } from './solver.js';

/** What an order is carried out with. */
export interface Means {
  readonly issuer: AcmeIssuer;
  readonly client: CaClient;
  readonly state: StateStore;
  readonly solve: Solve;
  readonly pace: Pace;
  /** Stores a text in the state, as far as that is possible. */
  readonly store: (name: string, text: string) => void;
  /** The profile to ask for, if the CA has it. */
  readonly profile: string | undefined;
}

/** An order under way as it is stored, so that another process can go on with it. */
interface Pending {
  readonly url: string;
  /** The key that the certificate is for. */
  readonly key: string;
}

/** Milliseconds for the CA to make up its mind about names, and to make a certificate. nginx-acme: authorization_timeout. */
const PATIENCE = 60_000;
const LONGEST_PAUSE = 8_000;
/** How often an order is begun when answers to challenges are lost. */
const TRIES = 3;
/** Milliseconds in which all processes have come to share a zone again that was started anew. */
const RECOVERY = 2_500;
/** How many names of an order are validated at a time. */
const AT_ONCE = 8;

/** The CA refused a name since the answer to its challenge was lost here, or not everywhere yet: nothing is wrong with the name. */
class AnswerLost extends Error {}

/**
 * Gets a certificate: begins an order or goes on with one that an earlier process began. `replaces` names the certificate that goes out
 * of use (RFC 9773). Rejects with {@link AcmeProblem}, {@link Unreachable}, {@link Stopped} or an Error that says what is wrong.
 */
export async function obtain(order: Order, replaces: string | undefined, means: Means): Promise<CertificatePair> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await tryOnce(order, replaces, means);
    } catch (error) {
      if (!(error instanceof AnswerLost) || left === 0) {
        throw error;
      }
    }
    means.state.remove(pendingName(order));
    await means.pace.wait(RECOVERY);
  }
}

async function tryOnce(order: Order, replaces: string | undefined, means: Means): Promise<CertificatePair> {
  const { client, state, issuer } = means;
  const resumed = await resume(order, means);
  const { key, remote } = resumed ?? (await begin(order, replaces, means));
  let at = remote;
  if (at.status === 'pending') {
    await authorize(at, order, key, means);
    at = await settled(at, ['pending'], means);
  }
  if (at.status === 'ready') {
    at = await client.finalize(at, await makeCertificateRequest(order.identifiers, issuer.commonName, key));
  }
  if (at.status === 'processing' || at.status === 'ready') {
    at = await settled(at, ['processing', 'ready'], means);
  }
  if (at.status !== 'valid') {
    state.remove(pendingName(order));
    throw new Error(complaint(at.error) || `unexpected order status "${caWords(at.status)}"`);
  }
  const pair = { chain: certificatesOf(await client.certificate(at)), key };
  try {
    checkCertificate(pair, order.identifiers);
  } catch (error) {
    state.remove(pendingName(order));
    throw error;
  }
  return pair;
}

/** The file of an order under way. The caller of {@link obtain} removes it once the certificate is stored. */
export const pendingName = ({ id }: Order): string => `${id}.order`;

async function resume(order: Order, { client, state }: Means): Promise<(Pending & { remote: RemoteOrder }) | undefined> {
  const pending = readPending(state.read(pendingName(order)));
  if (pending === undefined) {
    return undefined;
  }
  try {
    const remote = await client.order(pending.url);
    if (remote.status !== 'invalid') {
      return { ...pending, remote };
    }
  } catch (error) {
    if (!(error instanceof AcmeProblem) || error.passing || error.limited) {
      throw error;
    }
  }
  state.remove(pendingName(order));
  return undefined;
}

function readPending(text: string | undefined): Pending | undefined {
  try {
    const { url, key } = JSON.parse(text ?? '{}') as Partial<Pending>;
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : undefined;
  } catch {
    return undefined;
  }
}

async function begin(
  order: Order,
  replaces: string | undefined,
  { client, store, profile }: Means,
): Promise<Pending & { remote: RemoteOrder }> {
  const key = await generateKey(order.key);
  let remote: RemoteOrder;
  try {
    remote = await client.newOrder(order.identifiers, profile, replaces);
  } catch (error) {
    if (replaces === undefined || !(error instanceof AcmeProblem) || !error.mayMeanReplaces) {
      throw error;
    }
    remote = await client.newOrder(order.identifiers, profile, undefined);
  }
  store(pendingName(order), JSON.stringify({ url: remote.url, key } satisfies Pending));
  return { url: remote.url, key, remote };
}

async function authorize({ authorizations = [] }: RemoteOrder, order: Order, key: string, means: Means): Promise<void> {
  const left = [...authorizations];
  if (left.length > order.identifiers.length) {
    throw new Error('the CA wants more validated than was ordered');
  }
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let url = left.shift(); url !== undefined && failures.length === 0; url = left.shift()) {
      try {
        await authorizeOne(url, order, key, means);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failures.length > 0) {
    throw failures[0];
  }
}

async function authorizeOne(url: string, order: Order, key: string, { client, issuer, solve, pace }: Means): Promise<void> {
  const authorization = await client.authorization(url);
  if (authorization.status === 'valid') {
    return;
  }
  const { challenges } = authorization;
  const identifier = orderedIdentifier(order.identifiers, authorization.identifier);
  const challenge = challenges.find(({ type }) => type === issuer.challenge);
  if (challenge === undefined) {
    throw new Error(`the CA offers no challenge "${issuer.challenge}" for "${identifier.value}"`);
  }
  const token = checkToken(challenge.token);
  const answer = await client.keyAuthorization(challenge);
  const placed = await solve(identifier, token, answer, key);
  let lost = false;
  const restore = async (): Promise<void> => {
    lost = (await placed.restore()) || lost;
  };
  try {
    if (challenge.status === 'pending') {
      await client.ready(challenge);
    }
    const result = await poll(
      pace,
      async () => {
        await restore();
        return client.authorization(url);
      },
      ({ status }) => status !== 'pending',
    );
    if (result.status !== 'valid') {
      await restore();
      const why = complaint(result.challenges.find(({ type }) => type === challenge.type)?.error);
      const what = `${why || `authorization status "${caWords(result.status)}"`} for "${identifier.value}"`;
      throw lost || (await placed.missed()) ? new AnswerLost(what) : new Error(what);
    }
  } finally {
    await placed.takeAway();
  }
}

/** Waits until an order is in none of some states. */
function settled(order: RemoteOrder, states: readonly RemoteOrder['status'][], { client, pace }: Means): Promise<RemoteOrder> {
  return poll(
    pace,
    () => client.order(order.url),
    ({ status }) => !states.includes(status),
  );
}

/** Asks again and again until an answer will do, less and less often; gives the last answer when there is no more time. */
async function poll<T>(pace: Pace, ask: () => Promise<T>, done: (answer: T) => boolean): Promise<T> {
  let waited = 0;
  for (let pause = 250; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const answer = await ask();
    if (done(answer) || waited >= PATIENCE) {
      return answer;
    }
    await pace.wait(pause);
    waited += pause;
  }
}
