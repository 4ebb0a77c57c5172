import { answer } from './answers.js';
import type { Case, Part } from './case.js';
import { type Feature, handlers, modifiers, targets } from './features.js';
import { Random } from './random.js';
import { client } from './requests.js';

/** The case of a number: the same one for the same seed. */
export function generate(seed: number, number: number): Case {
  const random = new Random(seed, number);
  const chosen: Feature[] = [random.oneOf(handlers)];
  for (let i = random.below(4) + random.below(3); i > 0; i--) {
    const other = random.oneOf(modifiers);
    if (!chosen.some(({ group }) => group === other.group)) {
      chosen.push(other);
    }
  }
  const parts: Part[] = chosen.map(({ make }) => make(random));
  const text = JSON.stringify(parts);
  const made = { client: client(random), answer: answer(random) };
  return {
    parts: [...parts, ...targets.filter(({ name }) => text.includes(name) || (name === 'accel' && accel(made)) || failed(name, made))],
    ...made,
  };
}

type Made = Omit<Case, 'parts'>;

const accel = ({ answer }: Made): boolean => answer.fields.some(([name]) => name === 'X-Accel-Redirect');
const failed = (name: string, made: Made): boolean => name === 'failed' && accel(made);
