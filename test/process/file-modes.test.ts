import { chmodSync, existsSync, lchownSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const asRoot = { skip: (againstNginx && 'nginx follows them') || (process.getuid?.() !== 0 && 'a test of root') };
const NOBODY = 65534;

/** The mode of every file, folder and socket below a folder that this test has not put there. */
function modes(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(`${folder}/${name}`);
    const kind = stat.isDirectory() ? 'folder' : stat.isSocket() ? 'socket' : 'file';
    // Numbers of processes, times and hashes differ.
    found[name.replaceAll(/[0-9a-f]{32}|\d+/g, 'N')] = `${kind} ${(stat.mode & 0o777).toString(8)}`;
  }
  return found;
}

// A daemon has no umask: a file whose maker names no mode is open to all.
t.test('the files of a daemon', { skip: againstNginx && 'it keeps others' }, async (t) => {
  const s = await startServer(t, {
    conf: `daemon on;\nconfiguration_history %%DIR%%/made/history;\n${httpConf(
      `js_import t.js;
      js_shared_dict_zone zone=dict:32k state=%%DIR%%/made/state/dict.json;
      keyval_zone zone=kept:32k state=%%DIR%%/made/state/keyval.json; keyval $arg_k $value zone=kept;
      upstream group { zone group 64k; state %%DIR%%/made/state/group.conf; }
      proxy_cache_path %%DIR%%/made/cache keys_zone=c:1m;
      proxy_temp_path %%DIR%%/made/proxy;
      server {
        listen 127.0.0.1:%%PORT_0%%; listen unix:%%DIR%%/made/socket;
        access_log %%DIR%%/made/access.log; access_log %%DIR%%/made/$arg_log.log;
        root %%DIR%%;
        location / { return 200 answer; }
        location = /set { js_content t.set; }
        location = /cached { proxy_cache c; proxy_cache_valid 1m; proxy_pass http://127.0.0.1:%%PORT_0%%/; }
        location = /body { client_body_temp_path %%DIR%%/made/body; client_body_in_file_only on; proxy_pass http://127.0.0.1:%%PORT_0%%/; }
        location /api { api write=on; }
      }`,
    )}`,
    files: {
      't.js': 'export default { set(r) { ngx.shared.dict.set("a", "b"); r.return(200, "set"); } };',
      'made/state/note': '',
    },
  });
  chmodSync(`${s.dir}/made`, 0o777);
  chmodSync(`${s.dir}/made/state`, 0o777);
  t.equal((await httpGet(s, '/set')).text, 'set');
  t.equal((await httpGet(s, '/cached?log=named')).text, 'answer');
  t.equal((await http(s, requestText('POST', '/body', { Connection: 'close' }, 'body'))).text, 'answer');
  const post = (path: string, body: object) =>
    http(s, requestText('POST', `/api/9/http/${path}`, { Connection: 'close' }, JSON.stringify(body)));
  t.equal((await post('keyvals/kept', { a: '1' })).status, 201);
  t.equal((await post('upstreams/group/servers', { server: '127.0.0.9:1' })).status, 201);
  t.equal(lstatSync(`${s.dir}/made/socket`).mode & 0o777, 0o666, "as in nginx, a socket is everyone's");
  await s.stop('QUIT');
  const { 'state/note': _, ...found } = modes(`${s.dir}/made`);
  t.strictSame(found, {
    '.log': 'file 644',
    'access.log': 'file 644',
    'named.log': 'file 644',
    body: 'folder 700',
    'body/N': 'file 600',
    cache: 'folder 700',
    'cache/N': 'file 600',
    history: 'folder 700',
    'history/N': 'folder 700',
    'history/N/N-sluice.conf': 'file 600',
    'history/N/manifest.json': 'file 600',
    'history/service.json': 'file 600',
    proxy: 'folder 700',
    state: 'folder 777',
    'state/dict.json': 'file 600',
    'state/group.conf': 'file 600',
    'state/keyval.json': 'file 600',
  });
});

t.test('root follows no link of another user to a log, nor to a folder that it gives away', asRoot, async (t) => {
  const conf = `daemon off;\npid %%DIR%%/server.pid;\n${serverConf('access_log %%DIR%%/open/access.log; proxy_temp_path %%DIR%%/open/temp;')}`;
  for (const [name, call] of [
    ['access.log', 'open()'],
    ['temp', 'chown('],
  ] as const) {
    const prefix = await makePrefix(t, { 'sluice.conf': conf, 'open/note': '', 'victim/note': '' });
    const { dir } = prefix;
    const link = `${dir}/open/${name}`;
    const target = name === 'temp' ? `${dir}/victim` : `${dir}/victim/made`;
    symlinkSync(target, link);
    // Whose the link is decides, not whose the folder is.
    lchownSync(link, NOBODY, NOBODY);
    const { code, stderr } = await runCli(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr']);
    t.equal(code, 1, stderr);
    t.match(stderr, '40: Too many levels of symbolic links');
    t.match(stderr, call);
    t.notOk(existsSync(`${dir}/victim/made`));
    t.equal(lstatSync(`${dir}/victim`).uid, 0);
    lchownSync(link, 0, 0);
    t.equal((await runCli(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr'])).code, 0, "root's own link is followed");
  }
});

t.test('the pid file, and links in its place', { skip: againstNginx && 'nginx follows them' }, async (t) => {
  const conf = `pid %%DIR%%/run/server.pid;\n${serverConf('location / { return 200 hello; }')}`;
  const prefix = await makePrefix(t, { 'sluice.conf': conf, victim: 'untouched\n', 'run/note': '' });
  const { dir } = prefix;
  const args = ['-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log'];
  // What -t makes is made, not followed.
  symlinkSync(`${dir}/nowhere`, `${dir}/run/server.pid`);
  t.match(await runCli(['-t', ...args]), { code: 1, stderr: /open\(\) ".*server\.pid" failed \(40: Too many levels of symbolic links\)/ });
  t.notOk(existsSync(`${dir}/nowhere`));
  rmSync(`${dir}/run/server.pid`);
  symlinkSync(`${dir}/victim`, `${dir}/run/server.pid`);
  const started = await runCli([...args, '-g', 'daemon on;']);
  t.equal(started.code, 0, started.stderr);
  const stat = lstatSync(`${dir}/run/server.pid`);
  t.ok(stat.isFile(), 'the link was replaced');
  t.equal(stat.mode & 0o777, 0o644);
  t.equal(readFileSync(`${dir}/victim`, 'latin1'), 'untouched\n');
  t.equal((await runCli([...args, '-s', 'stop'])).code, 0);
  await waitFor(() => !existsSync(`${dir}/run/server.pid`));
});

t.test('a file that waits under the name of a temporary one', { skip: againstNginx && 'nginx has none' }, async (t) => {
  const conf = `daemon on;\nconfiguration_history %%DIR%%/history;\n${serverConf('location / { return 200 hello; }')}`;
  const s = await startServer(t, { conf, files: { victim: 'untouched\n' } });
  symlinkSync(`${s.dir}/victim`, `${s.dir}/history/service.json.${s.pid}.new`);
  await s.reload();
  await waitFor(() => /"outcome": "done"/.test(s.read('history/service.json')));
  t.equal(s.read('victim'), 'untouched\n');
  t.strictSame(
    readdirSync(`${s.dir}/history`).filter((name) => name.endsWith('.new')),
    [],
  );
});
