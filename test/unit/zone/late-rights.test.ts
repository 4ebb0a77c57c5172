import t from 'tap';
import { DatabaseConnection, faultOf, loadSqlite } from '../../../src/shared/zone/sqlite.js';

// A process whose rights change calls it before; what was asked of SQLite before that must not make a difference.
t.test('SQLite is whole once it is loaded, whoever asked first', async (t) => {
  t.equal(faultOf(Object.assign(new Error('gone'), { code: 'ENOENT', syscall: 'lstat' })), 'unusable');
  loadSqlite();
  const { dlopen } = process;
  t.teardown(() => Object.assign(process, { dlopen }));
  process.dlopen = () => {
    throw new Error('out of reach');
  };
  new DatabaseConnection(undefined, '', 0).close();
});
