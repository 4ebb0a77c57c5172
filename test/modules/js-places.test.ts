import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { exchange, httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx && process.env['SLUICE_TEST_NJS'] === undefined) {
  t.bailout('njs is a module of its own');
}

// Where modules are looked for, and what depends on where a function runs. The answers are nginx's with njs.

/** A module whose function answers with its name and what it has imported. */
const answering = (name: string, imported = ''): string =>
  `${imported}\nfunction f(r) { r.return(200, '${name} ' + (typeof dep === 'undefined' ? '' : dep)); }\nexport default { f };\n`;
const dependency = (text: string): string => `export default '${text}';\n`;

t.test('where modules are looked for', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`js_path %%DIR%%/js; js_path %%DIR%%/js2/; js_import a.js; js_import b.js; js_import c.js; js_import d from sub/d.js;
      server { listen 127.0.0.1:%%PORT_0%%;
        location /a { js_content a.f; } location /b { js_content b.f; } location /c { js_content c.f; } location /d { js_content d.f; }
        location /e { js_path %%DIR%%/js3; js_import e.js; js_content e.f; } }`),
    files: {
      'a.js': answering('beside the configuration'),
      'js/a.js': answering('js'),
      'js/b.js': answering('js', "import dep from 'dep.js';"),
      'dep.js': dependency('beside the configuration'),
      'js/dep.js': dependency('beside the importing file'),
      'js2/dep.js': dependency('js2'),
      'js2/c.js': answering('js2', "import dep from './x/dep2.js';"),
      'js2/x/dep2.js': "import up from '../up.js'; export default 'x ' + up;\n",
      'js2/up.js': dependency('up'),
      'sub/d.js': answering('sub', "import dep from 'only.js';"),
      'js2/only.js': dependency('only in js2'),
      'js3/e.js': answering('js3', "import dep from 'only3.js';"),
      'js3/only3.js': dependency('only in js3'),
    },
  });
  t.equal((await httpGet(s, '/a')).text, 'beside the configuration ');
  t.equal((await httpGet(s, '/b')).text, 'js beside the importing file');
  t.equal((await httpGet(s, '/c')).text, 'js2 x up');
  t.equal((await httpGet(s, '/d')).text, 'sub only in js2');
  t.equal((await httpGet(s, '/e')).text, 'js3 only in js3');
});

t.test('captures', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`js_import t.js;
      server { listen 127.0.0.1:%%PORT_0%%;
        location /plain { js_content t.shown; }
        location ~ ^/between/(a)?(b)(c)?$ { js_content t.shown; }
        location ~ ^/sub/(.) { js_content t.sub; }
        location ~ ^/redirect/(.) { js_content t.redirect; } }`),
    files: {
      't.js': `
        function of(r) { return JSON.stringify([0, 1, 2, 3, 99].map((n) => r.variables[n] ?? null)); }
        function shown(r) { r.return(200, of(r)); }
        async function sub(r) {
          const reply = await r.subrequest('/between/b');
          r.return(200, of(r) + reply.responseText + of(reply));
        }
        function redirect(r) { r.internalRedirect('/plain'); }
        export default { shown, sub, redirect };`,
    },
  });
  t.equal((await httpGet(s, '/plain')).text, '[null,null,null,null,null]');
  t.equal((await httpGet(s, '/between/ab')).text, '["/between/ab","a","b",null,null]');
  t.equal((await httpGet(s, '/between/b')).text, '["/between/b","","b",null,null]');
  t.equal((await httpGet(s, '/sub/q')).text, '["/sub/q","q",null,null,null]["/between/b","","b",null,null]["/between/b","","b",null,null]');
  t.equal((await httpGet(s, '/redirect/q')).text, '["/redirect/q","q",null,null,null]');
});

t.test('the length of the body that a subrequest is given', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`js_import t.js;
      server { listen 127.0.0.1:%%PORT_0%%;
        location /with { js_content t.with; } location /without { js_content t.without; }
        location /length { js_content t.length; } }`),
    files: {
      't.js': `
        async function asked(r, options) { r.return(200, (await r.subrequest('/length', options)).responseText); }
        export default {
          with(r) { return asked(r, { method: 'PUT', body: 'four' }); }, without(r) { return asked(r, {}); },
          length(r) { r.return(200, [r.variables.content_length, r.requestText, r.headersIn['Content-Length']].map(String).join()); } };`,
    },
  });
  t.equal((await httpGet(s, '/with')).text, '4,four,undefined');
  t.equal((await httpGet(s, '/without')).text, 'undefined,undefined,undefined');
});

t.test('functions that are in no module', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`js_import a.js;
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%;
        location /head { js_header_filter a.none; return 200 text; }
        location /page { js_header_filter a.none; return 404; }
        location /body { js_body_filter a.none; return 200 text; }
        location /file.txt { js_body_filter a.none; }
        location /access { js_access a.none; }
        location /content { js_content a.none; } }`),
    files: { 'a.js': answering('a'), 'file.txt': 'a file' },
  });
  for (const path of ['/head', '/page', '/body', '/file.txt']) {
    await t.rejects(httpGet(s, path), `${path}: there is no answer`);
  }
  t.equal((await httpGet(s, '/access')).status, 500);
  t.equal((await httpGet(s, '/content')).status, 500);
  t.equal(s.log().split('js function "a.none" not found').length - 1, 6, 'each says so once');
});

t.test('objects that a block preloads for the modules of the one around it', async (t) => {
  const conf = (file: string): string =>
    httpConf(`js_import a.js; server { listen 127.0.0.1:%%PORT_0%%; location / { js_preload_object p from ${file}; js_content a.f; } }`);
  // Modules of the other kind than njs's need nothing of the build, which is not there in a test's own process.
  const files = { 'a.js': againstNginx ? answering('a') : 'module.exports = { f() {} };', 'p.json': '{}' };
  t.equal(await configMessage(t, conf('p.json'), files), undefined);
  t.match(await configMessage(t, conf('none.json'), files), /^failed to initialize preload objects/);
});

t.test('a malformed body that js_access does not want', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`js_import t.js;
      server { listen 127.0.0.1:%%PORT_0%%; location / { js_access t.refuses; empty_gif; } }`),
    files: { 't.js': 'function refuses(r) { r.return(Number(r.args.status), r.args.text); }\nexport default { refuses };\n' },
  });
  const answer = (args: string): Promise<string> =>
    exchange(s, `PUT /?${args} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n`);
  t.match(await answer('status=401'), /^HTTP\/1.1 401 .*\r\nConnection: close\r\n/s, 'the status of a page');
  t.match(await answer('status=401&text=no'), /^HTTP\/1.1 400 /, 'a text of its own begins with the end of the body');
  t.match(await answer('status=200'), /^HTTP\/1.1 400 /);
});
