import { chmodSync, readFileSync, statSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli, testConfig } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const main = `user nobody;
events { multi_accept on; use kqueue; }
http {
    include mime.types;
    include conf.d/*.conf;
    types_hash_max_size 2048;
    log_format a '$request_id $uri';
    map $uri $target { /use use; default ''; }
    upstream b { server 127.0.0.1:9; }
    server {
        listen %%PORT_0%%;
        more_set_headers "X: y";
        perl handler;
        tcp_nopush on;
        proxy_pas http://b;
        location / { proxy_pass http://b; tcp_nopush off; lua_block { anything { goes; } } }
    }
}
`;

t.test('what works, what differs, what is not there', async (t) => {
  const prefix = await makePrefix(t, { 'nginx.conf': main, 'mime.types': 'types { text/html html; }', 'conf.d/a.conf': 'gzip on;\n' });
  const file = `${prefix.dir}/nginx.conf`;
  const { code, stdout, stderr } = await runCli(['migrate', file]);
  t.same([code, stderr], [1, '']);
  t.match(stdout, `${file}: 3 files, 22 directives\n`);
  t.match(stdout, /^same +\d+\ndiffers +4\nno effect +4\nmissing +1\nunknown +3\n/m);
  t.match(stdout, '\n  more_set_headers: of the third-party module headers-more, which sluice does not have; `add_header');
  t.match(stdout, `\n  proxy_pas: of no module of nginx; perhaps \`proxy_pass\` is meant\n      ${file}:15\n`);
  t.match(stdout, `\n  perl: of ngx_http_perl_module, which is not there\n      ${file}:13\n`);
  t.match(stdout, `\n      ${file}:14, ${file}:16\n`, 'each place');
  t.match(stdout, /\n {2}log_format: `\$request_id` has 16 characters/);
  t.match(stdout, /\n {2}use: .*epoll/);
  t.match(stdout, /\n {2}\[emerg\] invalid event type "kqueue" in /);
  t.notMatch(stdout, /^ {2}(goes|default|text\/html)/m, 'entries of free-form blocks are no directives');
  t.match(stdout, /\nThis configuration is not accepted as it stands\. [^\n]+\n$/);

  const json = JSON.parse((await runCli(['migrate', '--json', file])).stdout);
  t.match(json, { file, accepted: false, files: [file, `${prefix.dir}/mime.types`, `${prefix.dir}/conf.d/a.conf`] });
  t.same(
    json.lines.filter(({ verdict }: { verdict: string }) => verdict === 'missing').map(({ directive }: { directive: string }) => directive),
    ['perl'],
  );
});

t.test('one that needs nothing', async (t) => {
  const prefix = await makePrefix(t, {
    'nginx.conf': 'events {} http { server { listen 127.0.0.1:%%PORT_0%%; access_log off; location / { return 204; } } }',
  });
  const { code, stdout } = await runCli(['migrate', 'nginx.conf'], { cwd: prefix.dir });
  t.equal(code, 0);
  t.match(
    stdout,
    /^differs +0\nno effect +0\nmissing +0\nunknown +0\n\nThis configuration is accepted as it stands, and works as it does with nginx\.\n$/m,
  );
});

t.test('files that cannot be read', async (t) => {
  const prefix = await makePrefix(t, { 'nginx.conf': 'events {}\nhttp { include nowhere.conf; gzip maybe; }' });
  const gone = await runCli(['migrate', `${prefix.dir}/none.conf`]);
  t.match(gone.stdout, `[emerg] open() "${prefix.dir}/none.conf" failed (2: No such file or directory)`);
  t.equal(gone.code, 1);
  const { code, stdout } = await runCli(['migrate', `${prefix.dir}/nginx.conf`]);
  t.equal(code, 1);
  t.match(stdout, `[emerg] open() "${prefix.dir}/nowhere.conf" failed (2: No such file or directory) in ${prefix.dir}/nginx.conf:2`);
  t.match(stdout, 'invalid value "maybe" in "gzip" directive');
});

t.test('what differs about requests is not said of stream', async (t) => {
  const prefix = await makePrefix(t, {
    'nginx.conf': `events {}
stream {
  log_format a $request_id;
  upstream b { server 127.0.0.1:9; }
  server { listen %%PORT_0%% multipath; include pass.conf; }
}
`,
    'pass.conf': 'proxy_pass b;\n',
  });
  const { stdout } = await runCli(['migrate', `${prefix.dir}/nginx.conf`]);
  t.match(stdout, /^differs +1\n/m);
  t.match(stdout, /\n {2}listen: checked, without effect, with a warning: connections use one path/);
  t.notMatch(stdout, /HTTP\/1\.0|instead of/);
});

t.test('--write adds the line that makes all defaults nginx’s, once', async (t) => {
  const conf = 'events {} http { server { listen 127.0.0.1:%%PORT_0%%; access_log off; location / { proxy_pass http://127.0.0.1:9; } } }\n';
  const prefix = await makePrefix(t, { 'nginx.conf': conf });
  const file = `${prefix.dir}/nginx.conf`;
  const before = readFileSync(file, 'latin1');
  chmodSync(file, 0o640);
  t.match((await runCli(['migrate', file])).stdout, '\n  proxy_pass: HTTP/1.0 and a new connection');
  t.equal(readFileSync(file, 'latin1'), before, 'without --write nothing is written');
  const { code, stdout } = await runCli(['migrate', '--write', file]);
  t.equal(code, 0);
  t.match(stdout, `Written: \`nginx_compatibility on;\` at the top of ${file}. nginx itself`);
  t.notMatch(stdout, 'HTTP/1.0');
  t.equal(readFileSync(file, 'latin1'), `nginx_compatibility on;\n${before}`);
  t.equal(statSync(file).mode & 0o777, 0o640);
  t.match((await runCli(['migrate', '-w', file])).stdout, `${file}:1 has \`nginx_compatibility\` already: nothing is written.\n`);
  t.equal(readFileSync(file, 'latin1'), `nginx_compatibility on;\n${before}`);
  t.match(await runCli(['migrate', '--write', `${prefix.dir}/none.conf`]), { code: 78, stderr: /none.conf/ });
});

t.test('-t says once where a default differs that nobody has decided', async (t) => {
  const tested = async (inside: string, main = ''): Promise<string> =>
    (await testConfig(t, `pid x.pid; ${main} events {} http { access_log off; ${inside} }`)).stderr;
  const pass = 'proxy_pass http://127.0.0.1:9;';
  const two = await tested(`server { location / { ${pass} } location /b { ${pass} } }`);
  t.equal(two.match(/\[notice\]/g)?.length, 1, two);
  t.match(two, /\[notice\] "nginx_compatibility" is not set: "proxy_pass" in .*:1 speaks HTTP\/1\.0 .*\n.*test is successful\n$/);
  t.match(await tested('upstream a { server 127.0.0.1:9; }'), 'clients get 503, with nginx 502');
  for (const main of ['nginx_compatibility on;', 'nginx_compatibility off;']) {
    t.notMatch(await tested(`server { location / { ${pass} } }`, main), 'notice', main);
  }
  t.notMatch(await tested(`server { proxy_http_version 1.1; location / { ${pass} } }`), 'notice');
  t.notMatch(await tested('server { location / { return 204; } }'), 'notice');
});
