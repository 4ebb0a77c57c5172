import t from 'tap';
import { localTimes, nowLocal, timeIso8601, timeLocal } from '../../../src/shared/time/time-format.js';

const inZone = (zone: string, ms: number) => {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return localTimes(ms);
  } finally {
    if (before === undefined) {
      delete process.env['TZ'];
    } else {
      process.env['TZ'] = before;
    }
  }
};

t.same(inZone('UTC', Date.UTC(2026, 10, 5, 9, 8, 7, 999)), {
  errorLog: '2026/11/05 09:08:07',
  common: '05/Nov/2026:09:08:07 +0000',
  iso8601: '2026-11-05T09:08:07+00:00',
  syslog: 'Nov  5 09:08:07',
});

t.test('zones east, west and off the hour', async (t) => {
  t.equal(inZone('Asia/Kolkata', Date.UTC(2026, 11, 31, 20)).common, '01/Jan/2027:01:30:00 +0530');
  t.equal(inZone('America/St_Johns', Date.UTC(2026, 0, 1)).iso8601, '2025-12-31T20:30:00-03:30');
});

t.test('both sides of a change of daylight saving time', async (t) => {
  const change = Date.UTC(2026, 9, 25, 1);
  t.equal(inZone('Europe/Berlin', change - 1000).common, '25/Oct/2026:02:59:59 +0200');
  t.equal(inZone('Europe/Berlin', change).common, '25/Oct/2026:02:00:00 +0100');
});

t.test('now', async (t) => {
  const before = Math.floor(Date.now() / 1000) * 1000;
  const shown = new Date(timeIso8601()).getTime();
  t.ok(shown >= before && shown <= Date.now());
  t.ok([localTimes(shown).common, localTimes(shown + 1000).common].includes(timeLocal()));
  const first = nowLocal();
  t.ok(first === nowLocal() || first.syslog !== nowLocal().syslog, 'rendered once a second');
});
