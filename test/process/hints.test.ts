import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx gives no hints');
}

const said = async (inside: string): Promise<string> =>
  (await testConfig(t, `pid %%DIR%%/x.pid;\nevents {}\nhttp {\naccess_log off;\n${inside}\n}\n`)).stderr;

t.test('a missing ; is named, whatever nginx makes of it', async (t) => {
  const listen = await said('server {\n listen 127.0.0.1:%%PORT_0%%\n server_name a;\n}');
  t.match(listen, /^sluice: \[emerg\] invalid parameter "server_name" in .*:7\n/);
  t.match(listen, '    hint: is a `;` missing at the end of line 6? `server_name` begins a directive\n');
  t.match(await said('server_tokens off\ngzip on;'), 'hint: is a `;` missing at the end of line 5? `gzip` begins');
  t.match(await said('keepalive_timeout 65s\n sendfile on;'), 'hint: is a `;` missing at the end of line 5? `sendfile` begins');
  t.match(await said('sendfile maybe on;'), 'hint: it takes `on` or `off`, 2 are given');
});

t.test('units that nginx does not know', async (t) => {
  for (const [line, hint] of [
    ['client_max_body_size 10MB;', 'write `10m`'],
    ['client_max_body_size 1GB;', 'write `1024m`'],
    ['client_body_buffer_size 64KiB;', 'write `64k`'],
    ['client_body_buffer_size 1.5m;', 'numbers are whole'],
    ['proxy_read_timeout 10sec;', 'write `10s`'],
    ['proxy_read_timeout 5min;', 'write `5m`'],
    ['proxy_buffers 8 16KB;', 'write `16k`'],
    ['limit_req_zone $uri zone=a:10MB rate=1r/s;', 'a zone is written as in `zone=name:10m`'],
  ] as const) {
    t.ok((await said(line)).includes(`    hint: ${hint}`), line);
  }
  for (const line of ['keyval_zone zone=a:1m sync;', 'keyval_zone zone=a:1M sync;', 'gzip_http_version 2.0;']) {
    t.notMatch(await said(line), /hint: (write `|numbers)/, 'no unit is at fault');
  }
});

t.test('a zone that nothing defines', async (t) => {
  const zones = 'limit_req_zone $uri zone=one:1m rate=1r/s; proxy_cache_path %%DIR%%/c keys_zone=pages:1m;';
  t.match(await said(`${zones} limit_req zone=onne;`), 'hint: no `limit_req_zone` defines it; did you mean `one`?\n');
  t.match(await said(`${zones} limit_conn adr 1;`), 'hint: no `limit_conn_zone` defines it\n');
  for (const [inside, message] of [
    ['server { proxy_cache page; }', /"proxy_cache" zone "page" is unknown in .*\n/],
    // Where no server takes it over.
    ['proxy_cache page;', 'zero size shared memory zone "page"\n'],
  ] as const) {
    const cache = await said(`${zones}\n${inside}`);
    t.match(cache, message);
    t.match(cache, 'hint: no `proxy_cache_path` defines it; did you mean `pages`?\n');
    t.match(cache, /note: it is used here, in .*:6\n/);
  }
});

t.test('slips of people who come from elsewhere', async (t) => {
  for (const [inside, hint] of [
    ['server { location / { proxy_pass localhost:3000; } }', 'write `http://localhost:3000`'],
    ['server { location / { proxy_pass ws://localhost:3000; } }', 'it begins with `http://` or `https://`'],
    ['server { if ($host == b) { return 403; } }', 'write `$host = b`'],
    ['server { if ($host === b) { return 403; } }', 'write `$host = b`'],
    ['server { if ($host < b) { return 403; } }', 'a variable is compared with `=`'],
    ['upstream b { server nosuch.invalid; }', 'to start without its address, write `server NAME resolve=lazy;`'],
    ['server { location / { proxy_pass http://nosuch.invalid; } }', 'to start without its address, write `server NAME resolve=lazy;`'],
    ['js_challenge on;', '`js_challenge` is of the third-party module js_challenge, which sluice does not have'],
    ['js_contnt f;', 'did you mean `js_content`?'],
    ['session_log x;', '`session_log` is of NGINX Plus, and neither nginx nor sluice has it; `$request_id` and'],
    ['mp4_limit_rate on;', '`mp4_limit_rate` is of NGINX Plus, and neither nginx nor sluice has it; `limit_rate` and'],
    ['acme_client a;', '`acme_client` is of Angie, and neither nginx nor sluice has it; `acme_issuer` and'],
    [
      'set_cookie_flag x;',
      '`set_cookie_flag` is of the third-party module cookie flag, which sluice does not have; `proxy_cookie_flags` does the same',
    ],
  ] as const) {
    const stderr = await said(inside);
    t.ok(stderr.includes(`    hint: ${hint}`), `${inside}: ${stderr}`);
  }
});

t.test('the outer blocks', async (t) => {
  const events = await testConfig(t, 'http { }');
  t.match(events.stderr, `no "events" section in configuration\n    hint: write \`events { }\` at the top of ${events.file}\n`);
  const outside = await testConfig(t, 'events {}\nserver { listen 80; }\n');
  t.match(outside.stderr, 'hint: `server` may stand in http, upstream, stream or upstream in stream: put it into `http { }`, or `include`');
  const inside = await testConfig(t, 'events {}\nhttp {\n server {\n  location / {\n   root a;\n }\n server { }\n}\n');
  t.match(inside.stderr, '"server" directive is not allowed here');
  t.match(inside.stderr, 'is the `}` of `server` on line 3 missing?');
});

t.test('a quote or a block that does not end is shown where it begins', async (t) => {
  const open = await said('server {\n root "/a;\n index b;\n}');
  t.match(open, 'note: the quote starts here; is its end missing?, in ');
  t.match(open, '    6 |  root "/a;\n      |       ^');
  const next = await said('server {\n root "/a;\n index "b";\n}');
  t.match(next, /unexpected "b" in .*:7\n/);
  t.match(next, 'the quote starts here');
  const braces = await testConfig(
    t,
    'events {}\nhttp {\n  upstream b {\n    server 127.0.0.1;\n  }\n  server {\n    location / {\n  }\n}\n',
  );
  t.match(braces.stderr, 'unexpected end of file, expecting "}"');
  t.match(braces.stderr, /note: is the "}" of "location" missing\? the one on line 8 stands where that of "server" would, in .*:7\n/);
});

t.test('access_log FILE json', async (t) => {
  t.match(await testConfig(t, 'pid x.pid;\nevents {}\nhttp { access_log a.log json; server { listen 127.0.0.1:%%PORT_0%%; } }'), {
    code: 0,
  });
  const own = "log_format json '$uri'; access_log a.log json;";
  t.match(await testConfig(t, `pid x.pid;\nevents {}\nhttp { ${own} }`), { code: 0 });
  const late = await said("access_log a.log json; log_format json '$uri';");
  t.match(late, 'duplicate "log_format" name "json"');
  t.match(late, 'hint: a line above uses the built-in one');
  t.match(await testConfig(t, 'events {}\nstream { server { listen 127.0.0.1:%%PORT_0%%; return a; access_log a.log json; } }'), {
    code: 1,
  });
});

t.test('a conflicting server name: nginx names no place, both are shown', async (t) => {
  const server = 'server { listen 127.0.0.1:%%PORT_0%%;\n server_name a.example; }';
  const { stderr, file, prefix } = await testConfig(t, `pid %%DIR%%/x.pid; events {} http { access_log off;\n${server}\n${server}\n}`);
  const message = `sluice: [warn] conflicting server name "a.example" on 127.0.0.1:${prefix.port(0)}, ignored\n`;
  t.ok(stderr.startsWith(`${message}    note: this one is ignored, in ${file}:5\n    5 |  server_name a.example; }\n`), stderr);
  t.match(stderr, `    note: this one counts, in ${file}:3\n`);
});

t.test('a server that goes into the background tells its warnings once', async (t) => {
  const server = 'server { listen 127.0.0.1:%%PORT_0%%; server_name a.example; }';
  const { dir } = await makePrefix(t, {
    'sluice.conf': `pid x.pid; error_log error.log; events {} http { access_log off; ${server} ${server} }`,
  });
  const args = ['-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr'];
  const started = await runCli(args);
  const pid = Number(readFileSync(`${dir}/x.pid`, 'latin1'));
  t.teardown(async () => {
    process.kill(pid, 'SIGQUIT');
    await waitFor(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
  t.equal(started.code, 0);
  t.equal(started.stderr.match(/conflicting server name/g)?.length, 1, started.stderr);
  t.equal(started.stderr.match(/this one is ignored/g)?.length, 1);
});
