import { testDrills } from '../support/drills.js';

// Rotation has a test of its own with logrotate.
testDrills([
  'reloads',
  'broken-configs',
  'killed-workers',
  'killed-master',
  'catastrophic-patterns',
  'nested-patterns',
  'long-times',
  'zone-files',
  'failing-calls',
  'early-signals',
  'js-handlers',
  'js-reloads',
]);
