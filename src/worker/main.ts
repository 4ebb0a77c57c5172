import { beginProcess } from './begin-process.js';

beginProcess(new URL('program.js', import.meta.url));
