import t from 'tap';
import { emptyList } from '../../../src/shared/collection/empty-list.js';

t.test('a list is empty afterwards, and can be filled again', async (t) => {
  const list: number[] = [];
  for (const length of [0, 1, 17, 1000]) {
    for (let i = 0; i < length; i++) {
      list.push(i);
    }
    t.equal(list.length, length);
    emptyList(list);
    t.strictSame(list, []);
  }
});
