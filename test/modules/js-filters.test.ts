import { readFileSync } from 'node:fs';
import t from 'tap';
import { type Conversation, converse, type Transport } from '../compare/client.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { noQuicClient } from '../support/gtlsclient.js';
import { answerText, BASE, configurationOf, logLines, moduleOf, type Row, readTable, withoutWords } from '../support/njs-table.js';
import { startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// The rows of njs's table (test/njs/) about filters, over the other versions of HTTP and on libuv: what a filter sees and does is the same.

const MODES = ['head', 'body', 'passhead', 'passbody'];
const isFilter = ({ mode }: Row): boolean => MODES.includes(mode);

const files = readTable().filter(({ rows }) => rows.some(isFilter));
const { dir, rsa } = certs();

const placed = new Set(
  files.flatMap(({ rows }) => rows.filter(({ code }) => code.includes('/* placed */')).map(({ file, index }) => `${file}/${index}`)),
);

const LISTEN = `listen 127.0.0.1:%%PORT_0%%; http2 on; listen 127.0.0.1:%%PORT_3%% ssl; listen 127.0.0.1:%%PORT_3%% quic;
  server_name localhost; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};`;

const plain = { tls: false, http2: false, http3: false, bytewise: false };
const WAYS: Readonly<Record<string, { readonly listener: number; readonly transport: Omit<Transport, 'port'> }>> = {
  'HTTP/1.1': { listener: 0, transport: plain },
  'HTTP/2': { listener: 0, transport: { ...plain, http2: true } },
  'HTTP/2 over TLS': { listener: 3, transport: { ...plain, http2: true, tls: true } },
  'HTTP/3': { listener: 3, transport: { ...plain, http3: true } },
};

/** What versions of HTTP write otherwise, and what differs from run to run. */
const steady = (text: string): string =>
  text
    .replace(/Transfer-Encoding: chunked(?: \| )?/gi, '')
    .replace(/ +/g, ' ')
    .replace(/ \| (?=")/g, ' ')
    .replace(/https?:\/\/localhost(?::\w+)?/g, 'http://localhost:N')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:N')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .toLowerCase();

const capitals = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

function textOf(row: Row, { responses }: Conversation): string {
  const [response] = responses;
  // Over HTTP/1 a head leaves with the first bytes of the body.
  if (response === undefined || (!response.complete && response.body.length === 0)) {
    return 'closed';
  }
  const { status, fields, body, complete } = response;
  const declared = fields.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
  const whole = declared === undefined || row.request.method === 'HEAD' || status === 304 || Number(declared) === body.length;
  const text = answerText(
    row.mode,
    status,
    fields.map(([name, value]) => [capitals(name), value] as const),
    body.toString(),
  );
  return text + (complete && whole ? '' : ' incomplete');
}

for (const engine of ['auto', 'libuv']) {
  for (const [way, { listener, transport }] of Object.entries(WAYS)) {
    t.test(`filters over ${way}, net_engine ${engine}`, { skip: transport.http3 && noQuicClient }, async (t) => {
      const http = files.map((file) => ({ ...file, rows: file.rows.filter(({ mode }) => !mode.startsWith('stream')) }));
      const s = await startServer(t, {
        conf: `net_engine ${engine};\n${configurationOf(http, LISTEN).replaceAll('%%CERTS%%', dir)}`,
        files: {
          'js/base.js': BASE,
          'pre.json': '{}',
          'other.json': '{}',
          'html/file.txt': 'file',
          ...Object.fromEntries(files.map((file) => [`js/${file.name}.js`, moduleOf(file).replaceAll('%%PEER%%', '1')])),
        },
        expectAlerts: /./,
      });
      const answers = new Map<Row, string>();
      for (const row of files.flatMap(({ rows }) => rows.filter(isFilter))) {
        const { method = 'GET', query, headers = {}, body } = row.request;
        const request = {
          method,
          target: `/${row.file}/${row.index}${query === undefined ? '' : `?${query}`}`,
          version: '1.1',
          fields: [...Object.entries(headers), ...(transport === plain ? [['Connection', 'close'] as const] : [])],
          ...(body === undefined ? {} : { body: { text: body, framing: 'length' as const } }),
        } as const;
        answers.set(row, textOf(row, await converse({ ...transport, port: s.port(listener) }, { requests: [request] }, 'localhost')));
      }
      await s.stop('QUIT');
      const log = logLines(readFileSync(`${s.dir}/error.log`, 'utf8'), s.read('connections.log'), placed);
      t.ok(answers.size > 80);
      for (const [row, answer] of answers) {
        const got = [answer, ...(log.get(`${row.file}/${row.index}`) ?? [])].join(' ');
        const wanted = steady(row.ours ?? row.answer);
        // The last bytes of a response that is too short for its length leave over HTTP/1 alone.
        const broken = transport !== plain && answer === 'closed' && wanted.endsWith(' incomplete');
        t.equal(broken ? wanted : steady(withoutWords(row, got)), wanted, `${row.file}: ${row.mode}> ${row.code}`);
      }
    });
  }
}
