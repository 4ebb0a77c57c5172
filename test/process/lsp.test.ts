import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { type LspClient, startLsp } from '../support/lsp-client.js';
import { makePrefix } from '../support/prefix.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const main = `events {}
http {
    log_format short '$remote_addr $status';
    limit_req_zone $binary_remote_addr zone=slow:1m rate=1r/s;
    map $host $pool { default app; }
    upstream app { server 127.0.0.1:9; }
    include sites/*.conf;
}
`;
const site = `server {
    listen 127.0.0.1:%%PORT_0%%;
    # Straße
    location / { proxy_pass http://app; error_page 502 = @down; }
    location @down { return 503 "$pool"; }
}
`;

interface Opened extends LspClient {
  readonly dir: string;
  readonly uri: string;
  readonly mainUri: string;
  /** The site's text. */
  text: string;
  change(text: string): Promise<void>;
  /** Where a mark stands in the text, and so many characters on. */
  at(mark: string, more?: number): { textDocument: { uri: string }; position: { line: number; character: number } };
}

async function open(t: Test, text = site): Promise<Opened> {
  const { dir } = await makePrefix(t, { 'nginx.conf': main, 'sites/a.conf': text });
  const client = await startLsp(t);
  const uri = pathToFileURL(`${dir}/sites/a.conf`).href;
  const written = readFileSync(`${dir}/sites/a.conf`, 'utf8');
  await client.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'nginx', version: 1, text: written },
  });
  let version = 1;
  const opened: Opened = {
    ...client,
    dir,
    uri,
    mainUri: pathToFileURL(`${dir}/nginx.conf`).href,
    text: written,
    async change(next) {
      opened.text = next;
      version++;
      await client.connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ text: next }],
      });
    },
    at(mark, more = 0) {
      const before = opened.text.slice(0, opened.text.indexOf(mark) + more);
      const line = before.split('\n').length - 1;
      return { textDocument: { uri }, position: { line, character: before.length - before.lastIndexOf('\n') - 1 } };
    },
  };
  return opened;
}

const labels = (items: unknown): readonly string[] => (items as { label: string }[]).map(({ label }) => label);

t.test('diagnostics as the text is written, in the file where they belong', async (t) => {
  const client = await open(t);
  t.same(await client.diagnostics(client.uri, () => true), []);
  await client.change(client.text.replace('return 503', 'retrun 503'));
  const [wrong] = await client.diagnostics(client.uri, (shown) => shown.length > 0);
  t.match(wrong, { message: /^unknown directive "retrun"\ndid you mean `return`\?$/, severity: 1 });
  t.same(wrong?.range, { start: { line: 4, character: 21 }, end: { line: 4, character: 27 } });
  await client.change(site.replace('location /', 'location /i { alias /d/; }\n    location /').replace('%%PORT_0%%', '1'));
  const [found] = await client.diagnostics(client.uri, (shown) => shown.some(({ code }) => code !== undefined));
  t.match(found, { code: 'alias-slash', severity: 3, message: /\nwrite: location \/i\/ / });
  await client.change(client.text.replace('server {', 'server { ß'));
  t.match(await client.diagnostics(client.uri, (shown) => shown[0]?.severity === 1), [{ range: { start: { line: 0, character: 9 } } }]);
  t.equal(await client.end(), 0);
});

t.test('completion by context', async (t) => {
  const client = await open(t);
  const complete = async (text: string, mark: string, more: number): Promise<readonly string[]> => {
    await client.change(text);
    return labels(await client.connection.sendRequest('textDocument/completion', client.at(mark, more)));
  };
  const inLocation = await complete(site.replace('proxy_pass', 'prox proxy_pass'), 'prox ', 4);
  t.ok(
    inLocation.includes('proxy_pass') &&
      inLocation.includes('include') &&
      !inLocation.includes('upstream') &&
      !inLocation.includes('listen'),
  );
  t.ok((await complete(`${site}\nup`, '\nup', 3)).includes('upstream'), 'a file that http includes');
  t.same(
    (await complete(site.replace('http://app', 'http://'), 'http://', 7)).filter((label) => label === 'app'),
    ['app'],
  );
  const variables = await complete(site.replace('"$pool"', '"$'), '"$', 2);
  t.ok(variables.includes('pool') && variables.includes('request_uri'));
  t.ok((await complete(site.replace('proxy_pass', 'limit_req zone=;proxy_pass'), 'zone=', 5)).includes('slow'));
  t.ok((await complete(site.replace('proxy_pass', 'access_log a.log ;proxy_pass'), 'a.log ', 6)).includes('short'));
  t.ok((await complete(site.replace('= @down', '= @'), '= @', 3)).includes('@down'));
  const parameters = await complete(site.replace('proxy_pass', 'limit_req zone=slow ;proxy_pass'), 'slow ', 5);
  t.ok(parameters.includes('nodelay') && parameters.includes('burst='));
  t.ok((await complete(site.replace('proxy_pass', 'sendfile ;proxy_pass'), 'sendfile ', 9)).includes('on'));
  t.same(await complete(site, 'Straße', 3), [], 'nothing in a comment');
});

t.test('the reference on hover', async (t) => {
  const client = await open(t);
  const hover = async (mark: string, more: number): Promise<string> =>
    ((await client.connection.sendRequest('textDocument/hover', client.at(mark, more))) as { contents: { value: string } } | null)?.contents
      .value ?? '';
  t.match(await hover('proxy_pass', 3), /^```\nproxy_pass URL;\n```/);
  t.match(await hover('$pool', 2), 'map $host $pool { ... }');
  t.equal(await hover('http://app', 2), '');
});

t.test('definitions and references over files', async (t) => {
  const client = await open(t);
  const ask = async (method: string, mark: string, more: number): Promise<unknown> =>
    client.connection.sendRequest(method, { ...client.at(mark, more), context: { includeDeclaration: true } });
  t.match(await ask('textDocument/definition', 'http://app', 8), [{ uri: client.mainUri, range: { start: { line: 5, character: 13 } } }]);
  t.match(await ask('textDocument/definition', '$pool', 2), [{ uri: client.mainUri, range: { start: { line: 4, character: 15 } } }]);
  t.match(await ask('textDocument/definition', '= @down', 4), [{ uri: client.uri, range: { start: { line: 4, character: 13 } } }]);
  t.equal(((await ask('textDocument/references', 'http://app', 8)) as unknown[]).length, 2);
  const include = { textDocument: { uri: client.mainUri }, position: { line: 6, character: 15 } };
  t.match(await client.connection.sendRequest('textDocument/definition', include), [{ uri: client.uri }]);
});

t.test('a name gets another in all files', async (t) => {
  const client = await open(t);
  const rename = (mark: string, more: number, newName: string): Promise<unknown> =>
    client.connection.sendRequest('textDocument/rename', { ...client.at(mark, more), newName });
  t.match(await rename('http://app', 8, 'shop'), {
    changes: {
      [client.mainUri]: [{ range: { start: { line: 5, character: 13 }, end: { line: 5, character: 16 } }, newText: 'shop' }],
      [client.uri]: [{ range: { start: { line: 3, character: 35 } } }],
    },
  });
  await t.rejects(rename('proxy_pass', 3, 'x'), 'a directive');
  await t.rejects(rename('$pool', 2, 'a b'), 'no name for a variable');
});

t.test('formatting', async (t) => {
  const client = await open(t, 'server{listen 127.0.0.1:%%PORT_0%%;\n# ß\n}');
  const ask = (): Promise<unknown> =>
    client.connection.sendRequest('textDocument/formatting', {
      textDocument: { uri: client.uri },
      options: { tabSize: 4, insertSpaces: true },
    });
  t.match(await ask(), [{ newText: /^server \{\n {4}listen 127\.0\.0\.1:\d+;\n {4}# ß\n\}\n$/ }]);
  await client.change('server {');
  t.same(await ask(), [], 'a text with an error stays');
});

t.test('a file that no main file includes', async (t) => {
  const { dir } = await makePrefix(t, { 'x/part.conf': '' });
  const client = await startLsp(t);
  const uri = pathToFileURL(`${dir}/x/part.conf`).href;
  const text = 'location / { proxy_pass http://b; }\nloc';
  await client.connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'nginx', version: 1, text } });
  t.match(await client.diagnostics(uri, (shown) => shown.length > 0), [{ message: /unexpected end of file/ }]);
  const items = labels(
    await client.connection.sendRequest('textDocument/completion', { textDocument: { uri }, position: { line: 1, character: 3 } }),
  );
  t.ok(items.includes('location'));
});

const neovim = spawnSync('nvim', ['--version']).status === 0;
t.test('Neovim', { skip: neovim ? false : 'nvim is not installed' }, async (t) => {
  const { dir } = await makePrefix(t, { 'nginx.conf': 'events {}\nhttp { sever { } }\n' });
  const command = JSON.stringify(JSON.stringify([...serverCommand(), 'lsp']));
  // start_client() and not start(): Debian 12 has Neovim 0.7.
  const script = `local id = vim.lsp.start_client({ name = 'sluice', cmd = vim.fn.json_decode(${command}), root_dir = '${dir}' })
vim.lsp.buf_attach_client(0, id)
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end)
local found = vim.diagnostic.get(0)[1]
io.stdout:write((found and found.message or 'nothing') .. '\\n')`;
  writeFileSync(`${dir}/init.lua`, script);
  const args = ['--headless', '--clean', `${dir}/nginx.conf`, '-c', `luafile ${dir}/init.lua`, '-c', 'qall!'];
  const out = execFileSync('nvim', args, { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' });
  t.match(out, 'unknown directive "sever"\ndid you mean `server`?');
});
