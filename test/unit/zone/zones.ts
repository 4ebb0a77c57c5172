import { connZone } from '../../../src/worker/modules/limit-conn/zone.js';
import { rateZone } from '../../../src/worker/modules/limit-req/zone.js';

/** A zone's key: here only its text counts. */
export const keyOf = (text: string) => ({ text, constant: undefined, eval: () => '' });

/** One request a second. */
export const rate = { name: 'rate', kind: rateZone, bytes: 1 << 20, data: { rate: 1000, key: keyOf('$key'), sync: false } };
export const conn = { name: 'conn', kind: connZone, bytes: 1 << 20, data: { key: keyOf('$key'), sync: false } };
