import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { runCli, testConfig } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx loads modules');
}

const LIBRARY = { 'modules/ngx_http_strange_module.so': '\x7fELF' };
const end = 'pid %%DIR%%/x.pid; events {} http { access_log off;';

t.test('modules that are built in, or that nothing uses, are accepted with a warning', async (t) => {
  const debian = ['geoip2', 'perl', 'xslt_filter', 'echo', 'headers_more_filter', 'brotli_filter', 'cache_purge', 'strange', 'geoip'];
  const lines = debian.map((name) => `load_module modules/ngx_http_${name}_module.so;`);
  const { code, stderr, file } = await testConfig(t, `${lines.join('\n')}\nload_module modules/ngx_mail_module.so;\n${end} }`, LIBRARY);
  t.equal(code, 0, stderr);
  t.match(stderr, `[warn] "load_module" of "ngx_http_brotli_filter_module" is ignored: it is built in in ${file}:6\n`);
  t.match(stderr, `[warn] "load_module" of "ngx_http_cache_purge_module" is ignored: it is built in in ${file}:7\n`);
  t.match(stderr, `[warn] "load_module" of "ngx_http_geoip_module" is ignored: it is built in in ${file}:9\n`);
  for (const name of ['http_geoip2', 'http_perl', 'http_echo', 'http_strange', 'mail']) {
    t.match(stderr, `[warn] "load_module" of "ngx_${name}_module" is ignored: nothing in the configuration uses it in ${file}:`);
  }
});

t.test('one that the configuration needs is refused, and both places are shown', async (t) => {
  const { code, stderr, file } = await testConfig(t, `load_module modules/ngx_http_echo_module.so;\n${end}\nserver { echo hello; } }`);
  t.equal(code, 1);
  t.match(
    stderr,
    new RegExp(
      `^sluice: \\[emerg\\] "load_module" of "ngx_http_echo_module" is not possible: sluice loads no nginx modules in ${file}:1\n`,
    ),
  );
  t.match(stderr, `    note: \`echo\` is one of its directives, in ${file}:3\n`);
  t.match(stderr, `[emerg] unknown directive "echo" in ${file}:3\n`);
  const own = await testConfig(t, `load_module modules/ngx_http_perl_module.so;\n${end}\nserver { perl handler; } }`);
  t.match(own.stderr, '"load_module" of "ngx_http_perl_module" is not possible');
  const strange = await testConfig(t, `load_module modules/ngx_http_strange_module.so;\n${end} strange on; }`, LIBRARY);
  t.match(strange.stderr, '`strange` may be one of its directives, in ');
  const claimed = await testConfig(t, `load_module modules/ngx_http_strange_module.so;\n${end} echo on; }`, LIBRARY);
  t.match(claimed.stderr, '"load_module" of "ngx_http_strange_module" is ignored', 'a directive of another module does not count');
});

t.test('a file that is not there is told as nginx tells it', async (t) => {
  const { code, stderr, file, prefix } = await testConfig(t, `load_module modules/none.so;\nbogus;\n${end} }`);
  const path = `${prefix.dir}/modules/none.so`;
  t.equal(code, 1);
  t.ok(
    stderr.startsWith(
      `sluice: [emerg] dlopen() "${path}" failed (${path}: cannot open shared object file: No such file or directory) in ${file}:1\n`,
    ),
    stderr,
  );
  t.match((await testConfig(t, `${end} }\nload_module modules/none.so;`)).stderr, '"load_module" directive is specified too late in ');
});

t.test('unknown directives of well-known modules say whose they are and what does the same', async (t) => {
  for (const [line, module, instead] of [
    ['content_by_lua_block { ngx.say("{") }', 'Lua', '`js_content`'],
    ['lua_package_path "/x/?.lua;;";', 'Lua', '`map`'],
    ['more_set_headers "A: b";', 'headers-more', '`add_header NAME VALUE always`'],
    ['more_clear_input_headers A;', 'headers-more', '`proxy_set_header NAME ""`'],
    ['echo_sleep 1;', 'echo', '`return 200 "text"`'],
    ['vhost_traffic_status_zone;', 'vts', '`sluice_status`'],
    ['modsecurity on;', 'ModSecurity', '`limit_req`'],
    ['geoip2 /x.mmdb { $a country; }', 'geoip2', '`geo $variable { include FILE; }`'],
    ['nchan_pubsub;', 'nchan', '`proxy_pass`'],
    ['fancyindex on;', 'fancyindex', '`autoindex on`'],
  ] as const) {
    const { code, stderr } = await testConfig(t, `${end}\n${line}\n}`);
    t.equal(code, 1);
    t.match(stderr, new RegExp(`hint: \`\\w+\` is of the third-party module ${module}.*, which sluice does not have; `), line);
    t.ok(stderr.includes(instead), `${line}: ${stderr}`);
  }
  t.match((await testConfig(t, 'events {}\nmail { }')).stderr, 'hint: `mail` is of ngx_mail_module, which sluice does not have');
  t.match((await testConfig(t, 'events {}\nrtmp { server { } }')).stderr, 'the third-party module rtmp, which sluice does not have');
});

t.test('migrate knows them too', async (t) => {
  const { file } = await testConfig(t, `load_module modules/ngx_http_echo_module.so;\n${end} more_set_headers "A: b"; }`);
  const { stdout } = await runCli(['migrate', file]);
  t.match(stdout, '  load_module: nothing is loaded: ');
  t.match(stdout, '  more_set_headers: of the third-party module headers-more, which sluice does not have; `add_header');
  t.match(stdout, '"load_module" of "ngx_http_echo_module" is ignored: nothing in the configuration uses it');
});

t.test('a module is named once', async (t) => {
  for (const [name, place] of [
    ['ngx_http_brotli_filter_module', 'modules/'],
    ['ngx_http_strange_module', 'modules/'],
    ['ngx_otel_module', '/usr/lib/nginx/modules/'],
  ]) {
    const lines = `load_module modules/${name}.so;\nload_module ${place}${name}.so;`;
    const { code, stderr, file } = await testConfig(t, `${lines}\n${end} }`, LIBRARY);
    t.equal(code, 1);
    t.match(stderr, `sluice: [emerg] module "${name}" is already loaded in ${file}:2\n`);
  }
});
