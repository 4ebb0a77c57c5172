import t from 'tap';
import { readHostileCases } from '../../hostile/cases.js';
import { readCases } from '../../protocol/cases.js';
import { eventLog } from '../../protocol/event-log.js';
import { Mutations, trials } from './mutations.js';

const protocol = [...readCases(new URL('../../protocol/', import.meta.url)).values()].flat();
const hostile = [...readHostileCases(new URL('../../hostile/', import.meta.url)).values()].flat();
const short = (bytes: Buffer): boolean => bytes.length > 0 && bytes.length < 400;
const requests = [
  ...protocol.filter(({ meta }) => meta.type !== 'chunked').map(({ input }) => input),
  ...hostile.map(({ request }) => request),
]
  .filter(short)
  .map((bytes) => bytes.toString('latin1'));
const bodies = protocol.filter(({ meta, input }) => meta.type === 'chunked' && short(input)).map(({ input }) => input.toString('latin1'));

const mutations = new Mutations(11, [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\t',
    '\0',
    '\x7f',
    '\xff',
    ':',
    '%',
    '%2e',
    '..',
    '/',
    ';',
    '0',
    'f',
    '5\r\nhello\r\n',
    '0\r\n\r\n',
  ],
  ...['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: a\r\n', ' HTTP/1.1\r\n', 'x'.repeat(300), 'X: y\r\n'.repeat(30)],
]);

/** However a stream is cut, it means the same. */
function sameHoweverCut(text: string, meta: Parameters<typeof eventLog>[1], everywhere: boolean): string | undefined {
  const input = Buffer.from(text, 'latin1');
  const whole = eventLog(input, meta, Math.max(1, input.length)).join('\n');
  const differs = (size: number, first: number): boolean => eventLog(input, meta, size, first).join('\n') !== whole;
  if (differs(1, 0)) {
    return `${JSON.stringify(text)} byte by byte`;
  }
  const places = everywhere ? input.keys() : [mutations.below(input.length), mutations.below(input.length)];
  for (const at of places) {
    if (differs(input.length, at)) {
      return `${JSON.stringify(text)} cut at ${at}`;
    }
  }
  return undefined;
}

t.test('request heads and bodies cut at every byte', async (t) => {
  for (const text of requests) {
    t.equal(sameHoweverCut(text, {}, true), undefined);
  }
  for (const text of bodies) {
    t.equal(sameHoweverCut(text, { type: 'chunked', trailers: 200 }, true), undefined);
  }
});

t.test('mutated requests', async (t) => {
  for (let i = trials(3000); i > 0; i--) {
    const found = sameHoweverCut(mutations.mutated(requests) || 'G', {}, false);
    if (found !== undefined) {
      t.fail(found);
    }
  }
  t.pass();
});

t.test('mutated chunked bodies', async (t) => {
  for (let i = trials(3000); i > 0; i--) {
    const found = sameHoweverCut(mutations.mutated(bodies) || '0', { type: 'chunked', trailers: mutations.below(2) * 200 }, false);
    if (found !== undefined) {
      t.fail(found);
    }
  }
  t.pass();
});
