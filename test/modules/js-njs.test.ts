import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// Each answer is that of nginx 1.31.5 with njs 1.0.1.

const script = `
function args(r) { const values = Object.values(r.args).flat(); r.return(200, [Object.keys(r.args).length, values.length, values.at(-1)].join()); }
function body(r) { r.return(200, JSON.stringify([typeof r.requestText, r.requestText, typeof r.requestBuffer])); }
async function given(r) { r.return(200, (await r.subrequest('/body', { method: 'POST', body: r.args.b })).responseText); }
function heads(r) { r.return(200, JSON.stringify([Object.entries(r.headersIn).filter(([name]) => /^(?:cookie|x)/i.test(name)), r.headersIn['X-A'], r.rawHeadersIn.length, r.rawHeadersIn === r.rawHeadersIn])); }
function room(r) {
  const { shared: { d } } = ngx;
  const before = d.freeSpace();
  for (let i = 0; i < 50; i++) { d.set('k' + i, 'value'); }
  const full = d.freeSpace();
  for (let i = 0; i < 50; i++) { d.set('k' + i, 'other'); }
  const same = d.freeSpace();
  d.pop('k0'); d.delete('k1');
  const less = d.freeSpace();
  d.clear();
  r.return(200, [full < before, same === full, less > full, d.freeSpace() === before].join());
}
export default { args, body, given, heads, room };
`;
const plain = ['args', 'body', 'given', 'heads', 'room'];

t.test('what a client sends is read as by njs', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js; js_shared_dict_zone zone=d:64k; large_client_header_buffers 4 64k;
  server { listen 127.0.0.1:%%PORT_0%%; ${plain.map((name) => `location /${name} { js_content a.${name}; }`).join(' ')} }`),
    files: { 'a.js': script },
  });
  const text = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await text(`/args?${'a&'.repeat(1500)}`), '1,1000,');
  t.equal(await text(`/args?${Array.from({ length: 1500 }, (_, i) => `a${i}=${i}`).join('&')}`), '1000,1000,999');
  t.equal(await text(`/args?${'&'.repeat(1000)}a=1`), '0,0,');
  t.equal(await text(`/args?${'&'.repeat(999)}a=1`), '1,1,1');
  t.equal(await text('/args?a=1&b&a=2&=&a=%zz'), '3,5,');
  t.equal(await text('/body'), '["undefined",null,"undefined"]');
  t.equal((await http(s, requestText('POST', '/body', { 'Content-Length': '0' }))).text, '["string","","object"]');
  t.equal((await http(s, 'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')).text, '["string","","object"]');
  t.equal((await http(s, requestText('POST', '/body', { 'Content-Length': '2' }, 'ab'))).text, '["string","ab","object"]');
  t.equal(await text('/given?b='), '["undefined",null,"undefined"]');
  t.equal(await text('/given?b=c'), '["string","c","object"]');
  const heads = 'GET /heads HTTP/1.1\r\nHost: a\r\nx-a: 1\r\nCookie: a\r\nX-A: 2\r\ncookie: b\r\nX-A: 3\r\nConnection: close\r\n\r\n';
  t.equal((await http(s, heads)).text, '[[["x-a","1, 2, 3"],["Cookie","a; b"]],"1, 2, 3",7,true]');
  t.equal(await text('/room'), 'true,true,true,true');
});
