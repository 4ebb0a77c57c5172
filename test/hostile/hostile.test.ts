import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startServer } from '../support/server.js';
import { readHostileCases } from './cases.js';
import { configuration, files, SECRET } from './configuration.js';
import { playCase } from './exchange.js';
import { startStrictBackend } from './strict-backend.js';

const cases = readHostileCases(new URL('.', import.meta.url));

t.test('hostile requests and responses', async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  const server = await startServer(t, { conf: configuration(backend.port), files, asRoot: true });
  for (const [name, ofFile] of cases) {
    t.test(name, async (t) => {
      for (const played of ofFile) {
        const found = await playCase(server.port(0), backend, played);
        t.strictSame(found, (againstNginx ? played.nginx : undefined) ?? played.log, played.title);
        // Whatever a case expects: one reading of each stream, and nothing from outside a root.
        if (!againstNginx) {
          t.notMatch(found.join('\n'), new RegExp(`${SECRET}|^! (?!incomplete)|[\\r\\n]Injected`, 'm'), played.title);
        }
      }
    });
  }
});
