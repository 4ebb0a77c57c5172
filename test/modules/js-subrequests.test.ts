// JavaScript whose request is within another one, or behind its response.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const MODULE = `
async function admit(r) {
  const who = await r.subrequest('/who');
  r.headersOut['X-Who'] = who.responseText;
  r.return(who.responseText === 'nobody' ? 403 : 204);
}
async function asks(r) {
  const who = await r.subrequest('/who');
  r.return(200, 'asked ' + who.responseText + ' ' + (r.parent === undefined ? 'alone' : 'for ' + r.parent.uri));
}
async function within(r) {
  try {
    r.return(200, (await r.subrequest('/who')).responseText);
  } catch (e) {
    r.return(200, e.name + ': ' + e.message);
  }
}
async function outer(r) {
  r.return(200, (await r.subrequest('/within')).responseText);
}
async function gives(r) {
  r.return(200, (await r.subrequest('/given', { method: 'POST', body: 'given' })).responseText);
}
function given(r) {
  r.return(200, r.method + ' ' + r.requestText);
}
async function detached(r) {
  r.subrequest('/notes', { detached: true });
  r.return(200, 'detached');
}
async function notes(r) {
  r.error('noted ' + (await r.subrequest('/who')).responseText);
  r.return(200);
}
async function both(r) {
  const replies = await Promise.all([r.subrequest('/who'), r.subrequest('/parent')]);
  r.return(200, replies[0].responseText + ' ' + replies[1].responseText);
}
function parent(r) {
  r.return(200, String(r.parent && r.parent.uri));
}
function back204(r) { r.return(204); }
function back403(r) { r.return(403); }
function back301(r) { r.return(301, '/there'); }
function throws() { throw new Error('thrown'); }
function nothing() {}
async function refuses(r) { await null; r.return(401); }
async function later(r) { await null; r.return(207, 'later'); }
export default { admit, asks, gives, given, within, outer, detached, notes, both, parent, back204, back403, back301, throws, nothing, later, refuses };
`;

const location = (name: string): string => `location = /${name} { js_content main.${name}; }`;

t.test('functions have subrequests wherever their own request is', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      js_import main.js;
      default_type text/html;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        root %%DIR%%/html;
        ${['admit', 'asks', 'gives', 'given', 'within', 'outer', 'detached', 'notes', 'both', 'parent'].map(location).join('\n')}
        location = /who { if ($http_x_name) { return 200 $http_x_name; } return 200 somebody; }
        location = /closed { auth_request /admit; auth_request_set $who $sent_http_x_who; add_header X-Who $who; try_files /page.html =404; }
        location = /mirrored { mirror /notes; try_files /page.html =404; }
        location = /added { add_before_body /asks; try_files /page.html =404; }
        location = /kept.html { ssi on; }
        location = /page.html { ssi on; }
        location = /body.html { ssi on; }
        location = /included.html { ssi on; }
      }`),
    files: {
      'main.js': MODULE,
      'html/page.html': 'page',
      'html/included.html': '[<!--#include virtual="/asks" -->]',
      'html/body.html': '[<!--#include virtual="/gives" -->]',
      'html/kept.html': '<!--#include virtual="/within" set="kept" -->[<!--#echo var="kept" encoding="none" -->]',
    },
  });
  const text = async (path: string, name?: string): Promise<string> => {
    const { status, text } = await httpGet(s, path, name === undefined ? {} : { 'X-Name': name });
    return `${status} ${text}`;
  };
  t.equal(await text('/closed', 'me'), '200 page', 'auth_request');
  t.match(await text('/closed', 'nobody'), /^403 /);
  t.equal(await text('/included.html'), '200 [asked somebody alone]', 'SSI');
  t.equal(await text('/body.html'), '200 [POST given]', 'the body of a subrequest is its own');
  t.equal(await text('/added'), '200 asked somebody alonepage', 'add_before_body');
  t.equal(await text('/mirrored'), '200 page', 'mirror');
  await waitFor(() => /noted somebody/.test(s.log()), { what: () => 'what the mirror asked for' });
  t.equal(await text('/detached'), '200 detached');
  await waitFor(() => s.log().match(/noted somebody/g)?.length === 2, { what: () => 'what the detached subrequest asked for' });
  t.equal(await text('/both'), '200 somebody /both', 'a script sees that of the request which it is within');
  // As in nginx, those whose response is kept in memory have none.
  const none = 'TypeError: subrequest can only be created for the primary request';
  t.equal(await text('/outer'), `200 ${none}`);
  t.equal(await text('/kept.html'), `200 [${none}]`);
});

t.test('what a function returns behind a response is in the log', async (t) => {
  const answers = { back204: 204, back403: 403, back301: 301, throws: 500, nothing: 500, later: 207 };
  const names = Object.keys(answers);
  const s = await startServer(t, {
    conf: httpConf(`
      js_import main.js;
      log_format short "$uri $status $body_bytes_sent";
      access_log %%DIR%%/short.log short;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        ${names.map(location).join('\n')}
        ${names.map((name) => `location = /then-${name} { post_action /${name}; empty_gif; }`).join('\n')}
        location = /picture { empty_gif; }
        location = /then-picture { post_action /picture; error_page 404 /none; return 404 x; }
        location = /none { return 404 y; }
      }`),
    files: { 'main.js': MODULE },
  });
  for (const name of names) {
    t.equal((await httpGet(s, `/then-${name}`)).status, 200, name);
  }
  t.equal((await httpGet(s, '/then-picture')).status, 404);
  const lines = (): string[] => readFileSync(`${s.dir}/short.log`, 'utf8').trimEnd().split('\n');
  await waitFor(() => lines().length > names.length, { what: () => `the lines of the log; there are ${lines().length}` });
  t.strictSame(lines(), [...names.map((name) => `/${name} ${answers[name as keyof typeof answers]} 43`), '/picture 200 1']);
});

t.test('the end of an access function is not that of the content function behind it', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      js_import main.js;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        satisfy any;
        allow 127.0.0.1;
        deny all;
        location = /who { return 200 somebody; }
        location = /refused { js_access main.refuses; js_content main.within; }
      }`),
    files: { 'main.js': MODULE },
  });
  const { status, text } = await httpGet(s, '/refused');
  t.strictSame([status, text], [200, 'somebody']);
});
