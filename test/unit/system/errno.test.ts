import { openSync } from 'node:fs';
import t from 'tap';
import { errnoCode, errnoText } from '../../../src/shared/system/errno.js';

const failure = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

t.equal(errnoText(failure(() => openSync('/nowhere/at/all', 'r'))), '2: No such file or directory');
t.equal(errnoText(28), '28: No space left on device');
t.equal(errnoText(-111), '111: Connection refused');
t.equal(errnoText(new Error('other')), 'other');
t.equal(errnoText('text'), 'text');
t.equal(errnoCode(failure(() => openSync('/nowhere/at/all', 'r'))), 'ENOENT');
t.equal(errnoCode(new Error('other')), '');
t.equal(errnoCode(undefined), '');
