import t from 'tap';
import { groupId, idOfUser } from '../../../src/shared/system/user-ids.js';

t.test('users and groups by name', (t) => {
  t.equal(idOfUser('root'), 0);
  t.equal(groupId('root'), 0);
  t.type(idOfUser('nobody'), 'number');
  t.equal(idOfUser('no such user'), undefined);
  t.equal(groupId('-s'), undefined, 'a name is never an option of getent');
  t.equal(idOfUser('\0nobody'), undefined, 'a NUL is in no name');
  t.end();
});
