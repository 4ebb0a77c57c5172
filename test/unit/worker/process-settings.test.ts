import { cpus } from 'node:os';
import t from 'tap';
import { affinityMask, filterEnvironment } from '../../../src/worker/process-settings.js';

t.test('affinityMask follows nginx', (t) => {
  t.equal(affinityMask(['0001', '0010'], 0), '0001');
  t.equal(affinityMask(['0001', '0010'], 1), '0010');
  t.equal(affinityMask(['0001', '0010'], 5), '0010', 'the last mask is for all further workers');
  t.equal(affinityMask(['auto', '1'], 3), '1', 'auto spreads over the CPUs that may be used');
  t.equal(affinityMask(['auto', '0'], 0), undefined);
  if (cpus().length > 1) {
    t.equal(affinityMask(['auto'], 0), '1');
    t.equal(affinityMask(['auto'], 1), '10');
    t.equal(affinityMask(['auto', '10'], 0), '10');
  }
  t.end();
});

t.test('filterEnvironment leaves what is named, and TZ', (t) => {
  const before = { ...process.env };
  t.teardown(() => Object.assign(process.env, before));
  Object.assign(process.env, { SLUICE_TEST_A: 'a', SLUICE_TEST_B: 'b', TZ: 'UTC' });
  filterEnvironment(['SLUICE_TEST_A', 'SLUICE_TEST_C=c=d', 'SLUICE_TEST_NONE', 'SLUICE_TEST_E=\xc3\xa9']);
  t.strictSame({ ...process.env }, { SLUICE_TEST_A: 'a', SLUICE_TEST_C: 'c=d', SLUICE_TEST_E: 'é', TZ: 'UTC' });
  filterEnvironment(['TZ=Europe/Berlin']);
  t.strictSame({ ...process.env }, { TZ: 'Europe/Berlin' });
  t.end();
});
