import { finalize, kill, terminate } from './finalize.js';
import type { RequestLife } from './http-runtime.js';
import { resumePhases } from './run-phases.js';

/** How every request goes on and ends. */
export const requestLife: RequestLife = { resume: resumePhases, finalize, terminate, kill };
