import { testDrills } from '../support/drills.js';

testDrills(['certificates', 'floods', 'tiny-chunks', 'worker-connections', 'endless-includes']);
