import { testDrills } from '../support/drills.js';

testDrills([
  'certificates',
  'floods',
  'stream-floods',
  'stream-sessions',
  'tiny-chunks',
  'worker-connections',
  'endless-includes',
  'http2-floods',
  'http2-streams',
  'http2-backends',
  'http2-backend-floods',
  'own-bytes',
  'idle-quic',
]);
