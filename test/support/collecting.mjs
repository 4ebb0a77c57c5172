// Loaded by each of the server's processes before its own code: garbage is collected all the time, which takes a third of the process's
// time.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

function collect() {
  const begun = performance.now();
  gc();
  setTimeout(collect, 2 * (performance.now() - begun)).unref();
}
collect();
