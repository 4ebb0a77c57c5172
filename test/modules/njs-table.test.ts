import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startFetchPeer } from '../support/fetch-peer.js';
import { startNameServer } from '../support/name-server.js';
import {
  answerText,
  BASE,
  configurationOf,
  logLines,
  moduleOf,
  type Row,
  readTable,
  recordAnswers,
  sentBy,
  socketOf,
  withoutWords,
} from '../support/njs-table.js';
import { RawClient } from '../support/raw-client.js';
import { parseResponse } from '../support/response.js';
import { type Server, startServer } from '../support/server.js';

// What njs's objects do, row by row (test/njs/): the answers are those of nginx with njs.
// `scripts/record-njs PATH_TO_NGINX` asks for them anew.

const recording = process.env['RECORD_NJS'] !== undefined;
if (againstNginx && !recording) {
  t.bailout('njs is a module of its own');
}

/** What a row that nobody answers has as its answer. */
const SILENT = 'no answer';
const timeout = recording ? 1500 : 60_000;

/** An answer without what differs from run to run, in one line. */
const steady = (text: string): string =>
  text
    .replace(/localhost:\d+/g, 'localhost:N')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:N')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replace(/"[0-9a-f]{8}-4"/g, 'TAG')
    .replace(/(?:nginx|sluice)\/\d+\.\d+\.\d+/g, 'SERVER')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\0', '\\0');

async function ask(s: Server, row: Row): Promise<string> {
  const { file, index, mode, request } = row;
  const stream = mode.startsWith('stream');
  const client = await RawClient.connect(stream ? socketOf(row).replace('%%DIR%%', s.dir) : s.port(0), { timeout });
  const { method = 'GET', query, headers = {}, body } = request;
  const fields = Object.entries({
    Host: 'localhost',
    ...headers,
    ...(body === undefined ? {} : { 'Content-Length': String(body.length) }),
  });
  const sent = stream
    ? sentBy(row)
    : `${method} /${file}/${index}${query === undefined ? '' : `?${query}`} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}Connection: close\r\n\r\n${body ?? ''}`;
  if (sent !== '') {
    client.send(sent);
  }
  await client.closed();
  if (stream) {
    return JSON.stringify(client.received);
  }
  if (client.received === '') {
    return 'closed';
  }
  try {
    const response = parseResponse(Buffer.from(client.received, 'latin1'), method, true)!;
    return answerText(mode, response.status, response.headers, response.body.toString()) + (response.complete ? '' : ' incomplete');
  } catch (error) {
    return `bad: ${(error as Error).message}`;
  }
}

t.test('the table of njs', async (t) => {
  const only = process.env['NJS_ONLY'];
  const files = readTable().filter(({ name }) => only === undefined || only.split(',').includes(name));
  const backend = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      text += piece.toString();
      if (text.endsWith('\n')) {
        socket.end(`<${text}>`);
      }
    });
  });
  await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done));
  t.teardown(() => backend.close());
  const { port } = backend.address() as { port: number };
  const peer = await startFetchPeer();
  t.teardown(() => peer.server.close());
  const names = await startNameServer(
    t,
    Object.fromEntries(
      ['localhost', 'nothere.test', 'sub.example.com', 'a.sub.example.com', 'known.test'].map((name) => [
        name,
        [{ type: 'A', value: '127.0.0.1' }],
      ]),
    ),
  );
  const filled = (text: string): string =>
    text
      .replaceAll('%%PORT_9%%', String(port))
      .replaceAll('%%PEER%%', String(peer.port))
      .replaceAll('%%DNS%%', String(names.port))
      .replaceAll('%%CERTS%%', certs().dir);
  const s = await startServer(t, {
    conf: filled(configurationOf(files)),
    files: {
      'js/base.js': BASE,
      'pre.json': JSON.stringify({ a: { b: [1, { c: 2 }] }, text: 'x', n: null, 'a-b': true }),
      'other.json': '[1, [2, 3], {"d": "e"}]',
      'html/file.txt': 'file',
      ...Object.fromEntries(files.map((file) => [`js/${file.name}.js`, filled(moduleOf(file))])),
    },
    expectAlerts: /./,
    // Rows of fs make files in the server's folder.
    asRoot: true,
  });
  const answers = new Map<Row, string>();
  await Promise.all(
    files.map(async ({ rows }) => {
      // Rows of a file may follow from each other.
      for (const row of rows) {
        answers.set(row, await ask(s, row).catch((error: unknown) => `${SILENT}: ${(error as Error).message.slice(0, 40)}`));
      }
    }),
  );
  // A session that nginx leaves hanging would keep it for a minute.
  await s.stop(recording ? 'TERM' : 'QUIT');
  const rows = files.flatMap((file) => file.rows);
  const placed = new Set(rows.filter(({ code }) => code.includes('/* placed */')).map(({ file, index }) => `${file}/${index}`));
  const log = logLines(readFileSync(`${s.dir}/error.log`, 'utf8'), s.read('connections.log'), placed);
  const complete = (row: Row): string =>
    steady([answers.get(row)!, ...(row.mode === '' ? [] : (log.get(`${row.file}/${row.index}`) ?? []))].join(' ').replaceAll(s.dir, 'DIR'));
  for (const { name, rows } of files) {
    if (recording) {
      recordAnswers(name, rows.map(complete));
    } else {
      for (const row of rows) {
        t.equal(withoutWords(row, complete(row)), row.ours ?? row.answer, `${name}: ${row.mode}> ${row.code}`);
      }
    }
  }
  t.ok(files.length > 0);
});
