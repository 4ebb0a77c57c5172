// A helper process of the caches needs a seventh of the program, and less than half of a worker's memory.
import { beginProcess } from '../begin-process.js';

beginProcess(new URL('cache-program.js', import.meta.url));
