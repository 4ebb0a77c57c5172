import t from 'tap';
import { groupId, userId } from '../../../src/shared/system/user-ids.js';

t.test('users and groups by name', (t) => {
  t.equal(userId('root'), 0);
  t.equal(groupId('root'), 0);
  t.type(userId('nobody'), 'number');
  t.equal(userId('no such user'), undefined);
  t.equal(groupId('-s'), undefined, 'a name is never an option of getent');
  t.equal(userId('\0nobody'), undefined, 'a NUL is in no name');
  t.end();
});
