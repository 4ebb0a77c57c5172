import { testDrills } from '../support/drills.js';

testDrills(['certificates', 'floods', 'worker-connections', 'endless-includes']);
