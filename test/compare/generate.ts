import { answer } from './answers.js';
import type { Case, Part } from './case.js';
import type { Feature } from './feature.js';
import { handlers, modifiers, targets } from './features.js';
import { scriptHandlers, scriptModifiers } from './features-js.js';
import { moreHandlers, moreModifiers } from './features-more.js';
import { ourHandlers, ourModifiers } from './features-ours.js';
import { Random } from './random.js';
import { client } from './requests.js';

const allHandlers = [...handlers, ...moreHandlers, ...scriptHandlers, ...ourHandlers];
const allModifiers = [...modifiers, ...moreModifiers, ...scriptModifiers, ...ourModifiers];

/** Cases of one configuration, which takes a server longer to read than many requests. */
export const SHARED = 6;

/** The case of a number: the same one for the same seed. `shared`: so many cases, one after the other, have a configuration in common. */
export function generate(seed: number, number: number, shared = SHARED): Case {
  const random = new Random(seed, Math.floor(number / shared));
  const chosen: Feature[] = [random.oneOf(allHandlers)];
  for (let i = random.below(4) + random.below(3); i > 0; i--) {
    const other = random.oneOf(allModifiers);
    if (!chosen.some(({ group }) => group === other.group)) {
      chosen.push(other);
    }
  }
  const parts: Part[] = chosen.map(({ make }) => make(random));
  const text = JSON.stringify(parts);
  const own = new Random(seed, number, 1);
  return {
    parts: [...parts, ...targets.filter(({ name, server }) => text.includes(name) || ACCEL.test(server!))],
    client: client(own),
    answer: answer(own),
  };
}

/** Locations to which answers may lead. */
const ACCEL = /@failed |\/accel\//;
