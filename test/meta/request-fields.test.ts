import { readFileSync } from 'node:fs';
import t from 'tap';
// @ts-expect-error: a script without types.
import { fieldsPage, requestFields } from '../../scripts/request-fields.mjs';
import { root } from './source-files.js';

interface Field {
  readonly name: string;
  readonly group: string;
  readonly set: ReadonlySet<string>;
  readonly read: ReadonlySet<string>;
}

const fields: readonly Field[] = requestFields();
const named = (name: string): Field => fields.find((field) => field.name === name)!;

t.test('who sets and who reads a field is found', async (t) => {
  t.ok(fields.length > 80);
  t.ok(named('bytesSent').set.has('http/http1'), 'by an object that holds the request');
  t.ok(named('expectTrailers').set.has('modules/headers'), 'in a file that does not name its type');
  t.ok(named('uriChanges').set.has('http/request'), 'by a step');
  t.notOk(named('phase').set.has('stream/session'), 'a session has fields of the same names');
});

t.test('docs/request-fields.md is as the text is', async (t) => {
  const [file, text] = fieldsPage() as [string, string];
  t.equal(readFileSync(root + file, 'utf8'), text, 'npm run docs makes it anew');
});

/** Rooms that a request comes through before any module: what they say of it nobody else says again. */
const ENTRANCE = ['http/request', 'http/serving', 'http/multiplexed', 'http/http1', 'http/http2', 'http/http3'];

t.test('how far a request has come is a matter of its own room', async (t) => {
  const own = ['phase', 'step', 'contentHandler', 'accessCode', 'subrequests', 'errorPage', 'postAction', 'errStatus', 'cleanups', 'child'];
  for (const name of [...own, 'children', 'logged', 'headerSent', 'finished', 'pumping', 'wantMore', 'aborted', 'timedOut', 'startTime']) {
    t.strictSame([...named(name).set], ['http/request'], name);
  }
  for (const name of ['line', 'unparsedUri', 'schema', 'requestLength', 'pipelined', 'headerSize', 'bytesSent', 'chunkedOut', 'server']) {
    t.strictSame(
      [...named(name).set].filter((room) => !ENTRANCE.includes(room)),
      [],
      name,
    );
  }
});
