// The cases of HTTP/1 over HTTP/2 and HTTP/3: a request means the same over all three, but for what only HTTP/1 can say.
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { Http3Scene } from '../support/http3-scene.js';
import { startServer } from '../support/server.js';
import { readHostileCases } from './cases.js';
import { configuration, files, SECRET } from './configuration.js';
import type { Http2Case } from './http2/cases.js';
import { play } from './http2/exchange.js';
import { playOverHttp3 } from './http3-exchange.js';
import { inFrames } from './in-frames.js';
import { onlyHttp1 } from './only-http1.js';
import { startStrictBackend } from './strict-backend.js';

const cases = [...readHostileCases(new URL('.', import.meta.url)).values()].flatMap((ofFile) =>
  ofFile.flatMap((one) => inFrames(one) ?? []),
);

const skip = againstNginx && 'a comparison of sluice with itself';

/** What came of a case, in the words of those of HTTP/1. */
const common = (line: string): string =>
  lowered(line)
    .replace(/^(1:(?: 200 .*)?) reset \d+$/, '$1 incomplete')
    .replace(/ reset \d+$/, '');

/** Backends get the fields of HTTP/2 in small letters. */
const lowered = (line: string): string => line.replace(/(?<=\\r\\n)[^:\\]+(?=: )/g, (name) => name.toLowerCase());

async function playAll(t: Test, version: 2 | 3, list: readonly Http2Case[], played: (one: Http2Case) => Promise<string[]>): Promise<void> {
  for (const one of list) {
    const rule = onlyHttp1.find(({ when }) => when(one));
    const log = rule === undefined ? one.log : rule.log(one, version);
    const found = await played(one);
    if (log !== undefined) {
      t.strictSame(found.map(common).sort(), [...log].sort(), `${one.title}${rule === undefined ? '' : `: ${rule.why}`}`);
    }
    t.notMatch(found.join('\n'), new RegExp(`${SECRET}|^! (?!incomplete)|[\\r\\n]Injected`, 'm'), one.title);
  }
}

t.test('over HTTP/2', { skip }, async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  const conf = configuration(backend.port).replace('http {', 'http {\n  http2 on;');
  const server = await startServer(t, { conf, files, asRoot: true });
  await playAll(t, 2, cases, (one) => play(t, server.port(0), backend, one));
});

t.test('over HTTP/3', { skip }, async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  // Passwords are checked in a thread whose script the build makes.
  const conf = configuration(backend.port).replace(/^ *location \/basic\/.*\n/m, '');
  const scene = await Http3Scene.whole(t, conf, files);
  const list = cases.filter(({ parts }) => !parts[0]!.fields.some(([, value]) => value.startsWith('/basic/')));
  await playAll(t, 3, list, (one) => playOverHttp3(scene, backend, one));
});

t.test('each reason is met', { skip }, async (t) => {
  t.ok(cases.length > 700, `${cases.length} cases`);
  for (const { why, when } of onlyHttp1) {
    t.ok(cases.some(when), why);
  }
});
