import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startLsp } from '../support/lsp-client.js';
import { makePrefix } from '../support/prefix.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const text = `events {}
http {
    # é
    upstream app { server 127.0.0.1:9; }
    server {
        listen 127.0.0.1:%%PORT_0%%;
        server_name straße.example www.example;
        location ~ \\.php$ { proxi_pass http://app; }
        location / { return 200 "é $hosst\${uri} on"; gzip on; keepalive_timeout 65s; }
    }
}
`;

t.test('outline, colours and quick fixes', async (t) => {
  const { dir } = await makePrefix(t, { 'nginx.conf': text });
  const uri = pathToFileURL(`${dir}/nginx.conf`).href;
  const written = readFileSync(`${dir}/nginx.conf`, 'utf8');
  const lines = written.split('\n');
  const client = await startLsp(t);
  const { connection } = client;
  await connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'nginx', version: 1, text: written } });
  const textDocument = { uri };

  t.match(await connection.sendRequest('textDocument/documentSymbol', { textDocument }), [
    { name: 'events', children: [] },
    {
      name: 'http',
      range: { start: { line: 1, character: 0 }, end: { line: 10, character: 1 } },
      children: [
        { name: 'upstream app', kind: 5, selectionRange: { start: { line: 3, character: 4 }, end: { line: 3, character: 16 } } },
        {
          name: 'server',
          detail: /^straße\.example www\.example 127\.0\.0\.1:\d+$/,
          children: [{ name: 'location ~ \\.php$' }, { name: 'location /', range: { end: { line: 8 } } }],
        },
      ],
    },
  ]);

  const { data } = (await connection.sendRequest('textDocument/semanticTokens/full', { textDocument })) as { data: number[] };
  const types = ['keyword', 'comment', 'string', 'number', 'variable', 'regexp', 'enumMember'];
  const coloured: string[] = [];
  for (let at = 0, line = 0, character = 0; at < data.length; at += 5) {
    character = data[at] === 0 ? character + data[at + 1]! : data[at + 1]!;
    line += data[at]!;
    coloured.push(`${types[data[at + 3]!]} ${lines[line]!.slice(character, character + data[at + 2]!)}`);
  }
  for (const one of [
    'comment # é',
    'keyword server_name',
    'regexp \\.php$',
    'string "é ',
    'variable $hosst',
    'variable ${uri}',
    'string  on"',
    'enumMember on',
    'number 65s',
  ]) {
    t.ok(coloured.includes(one), one);
  }

  const shown = await client.diagnostics(uri, (all) => all.some(({ message }) => message.includes('proxi_pass')));
  const fix = async (diagnostics: readonly unknown[]): Promise<unknown> =>
    connection.sendRequest('textDocument/codeAction', {
      textDocument,
      range: { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } },
      context: { diagnostics },
    });
  t.match(await fix(shown), [
    {
      title: 'Change to "proxy_pass"',
      kind: 'quickfix',
      isPreferred: true,
      edit: {
        changes: { [uri]: [{ newText: 'proxy_pass', range: { start: { line: 7, character: 28 }, end: { line: 7, character: 38 } } }] },
      },
    },
  ]);
  t.strictSame(await fix([]), []);
  t.equal(await client.end(), 0);
});
