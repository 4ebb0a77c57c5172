import t from 'tap';
import { againstNginx } from '../../support/binary.js';
import { startServer } from '../../support/server.js';
import { configuration, files, SECRET } from '../configuration.js';
import { startStrictBackend } from '../strict-backend.js';
import { readHttp2Cases, writeHttp2Cases } from './cases.js';
import { play } from './exchange.js';

t.test('hostile requests over HTTP/2', async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  const conf = configuration(backend.port).replace('http {', 'http {\n  http2 on;');
  const server = await startServer(t, { conf, files, asRoot: true });
  for (const [name, ofFile] of readHttp2Cases()) {
    t.test(name, async (t) => {
      const found: string[][] = [];
      for (const played of ofFile) {
        found.push(await play(t, server.port(0), backend, played));
      }
      if (process.env['UPDATE_CASES'] !== undefined) {
        writeHttp2Cases(name, againstNginx ? 'nginx' : 'log', found);
        return;
      }
      ofFile.forEach((played, i) => {
        t.strictSame(found[i], (againstNginx ? played.nginx : undefined) ?? played.log, played.title);
        // Whatever a case expects: one reading of each request, none that the client did not send, and nothing from outside a root.
        if (!againstNginx) {
          t.notMatch(
            found[i]!.join('\n'),
            new RegExp(`${SECRET}|^! (?!incomplete)|^> "\\w+ /p/smuggled|[\\r\\n]Injected`, 'm'),
            played.title,
          );
        }
      });
    });
  }
});
