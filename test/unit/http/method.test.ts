import t from 'tap';
import { METHOD, methodBit } from '../../../src/worker/http/syntax/method.js';

for (const [name, bit] of Object.entries(METHOD)) {
  t.equal(methodBit(name), bit, name);
}
for (const name of ['', 'get', 'GETS', 'toString', '__proto__', 'PURGE']) {
  t.equal(methodBit(name), METHOD.UNKNOWN, name);
}
