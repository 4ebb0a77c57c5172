import { answer } from './answers.js';
import type { Case, Part } from './case.js';
import type { Feature } from './feature.js';
import { handlers, modifiers, targets } from './features.js';
import { clientModifiers } from './features-clients.js';
import { fileHandlers, fileModifiers } from './features-files.js';
import { scriptHandlers, scriptModifiers } from './features-js.js';
import { moreHandlers, moreModifiers } from './features-more.js';
import { ourHandlers, ourModifiers } from './features-ours.js';
import { askingAgain, staleAnswer, staleHandlers } from './features-stale.js';
import { frontHandlers, streamHandlers, streamModifiers } from './features-stream.js';
import { clientCertificates, tlsHandlers, tlsModifiers } from './features-tls.js';
import { Random } from './random.js';
import { client, identity, throughStream } from './requests.js';

const allHandlers = [...handlers, ...moreHandlers, ...staleHandlers, ...fileHandlers, ...tlsHandlers, ...scriptHandlers, ...ourHandlers];
const allModifiers = [
  ...modifiers,
  ...moreModifiers,
  ...fileModifiers,
  ...clientModifiers,
  ...tlsModifiers,
  ...clientCertificates,
  ...scriptModifiers,
  ...ourModifiers,
];

/** Cases of one configuration, which takes a server longer to read than many requests. */
export const SHARED = 6;

/** Once in so many configurations it is a server of `stream` that the client comes to. */
const STREAMS = 9;

/** The case of a number: the same one for the same seed. `shared`: so many cases, one after the other, have a configuration in common. */
export function generate(seed: number, number: number, shared = SHARED): Case {
  const random = new Random(seed, Math.floor(number / shared));
  const own = new Random(seed, number, 1);
  if (!random.once(STREAMS)) {
    const parts = httpParts(random);
    const has = (wanted: string): boolean => parts.some(({ name }) => name === wanted);
    const asking = has('stale') ? askingAgain(own, client(own)) : client(own);
    return {
      parts,
      client: { ...asking, ...(has('client-certificate') ? identity(own) : {}) },
      answer: has('stale') ? staleAnswer(own, answer(own)) : answer(own),
    };
  }
  const front = random.once(3);
  const parts = chosen(random, front ? frontHandlers : streamHandlers, streamModifiers, random.below(3));
  const through = random.oneOf(WAYS[parts[0]!.name as keyof typeof WAYS] ?? [undefined]);
  return {
    parts: front ? [...parts, ...httpParts(random)] : parts,
    client: throughStream(client(own), through),
    answer: answer(own),
  };
}

/** How clients come to servers of `stream` of these kinds. */
const WAYS = {
  'stream-proxy': [undefined, undefined, undefined, 'udp'],
  'stream-group': [undefined, undefined, 'udp'],
  'stream-map': [undefined, 'tls', 'udp'],
  'stream-return': [undefined, undefined, 'udp'],
  'stream-preread': [undefined, 'tls', 'tls'],
} as const;

/** One of some features, and up to so many others. */
function chosen(random: Random, first: readonly Feature[], others: readonly Feature[], most: number): Part[] {
  const features = [random.oneOf(first)];
  for (let i = most; i > 0; i--) {
    const other = random.oneOf(others);
    if (!features.some(({ group }) => group === other.group)) {
      features.push(other);
    }
  }
  return features.map(({ make }) => make(random));
}

/** What a server of `http` is made of. */
function httpParts(random: Random): Part[] {
  const parts = chosen(random, allHandlers, allModifiers, random.below(4) + random.below(3));
  const text = JSON.stringify(parts);
  return [...parts, ...targets.filter(({ name, server }) => text.includes(name) || ACCEL.test(server!))];
}

/** Locations to which answers may lead. */
const ACCEL = /@failed |\/accel\//;
