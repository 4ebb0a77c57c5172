import { connZone } from '../../../src/worker/modules/limit-conn/zone.js';
import { rateZone } from '../../../src/worker/modules/limit-req/zone.js';

/** One request a second. */
export const rate = { name: 'rate', kind: rateZone, bytes: 1 << 20, data: { rate: 1000, keyText: '$key' } };
export const conn = { name: 'conn', kind: connZone, bytes: 1 << 20, data: { keyText: '$key' } };
