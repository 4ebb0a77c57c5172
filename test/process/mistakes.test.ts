import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli, testConfig } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx gives no hints');
}

const around = (inside: string, http = ''): string =>
  `pid %%DIR%%/x.pid;\nevents { }\nhttp {\naccess_log off;\n${http}\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\n${inside}\n}\n}\n`;

/** The mistakes that people make first, and what they are told to write. */
const MISTAKES: readonly (readonly [mistake: string, conf: string, told: string | RegExp])[] = [
  ['a ; is missing', around('root html\nindex a.html;'), 'is a `;` missing at the end of line 8? `index` begins a directive'],
  [
    'a } is missing',
    'events { }\nhttp {\n  server {\n    location /a {\n      return 200;\n    location /b {\n      return 200;\n    }\n  }\n}\n',
    'is the "}" of',
  ],
  ['a } is too many', around('return 200;\n}\n}'), 'no block is open here; is one "}" too many above?'],
  ['a quote is open', around('add_header X "a;\nreturn 200 "b";'), 'the quote starts here; is its end missing?'],
  ['a directive is misspelt', around('proxy_passs http://127.0.0.1:3000;'), 'did you mean `proxy_pass`?'],
  ['server stands outside http', 'events { }\nserver { }', 'put it into `http { }`, or `include` this file there'],
  ['there is no events', 'pid %%DIR%%/x.pid; http { }', 'write `events { }` at the top of'],
  ['listen stands in a location', around('location / { listen 80; }'), '`listen` may stand in server'],
  ['proxy_pass has no scheme', around('location / { proxy_pass localhost:3000; }'), 'write `http://localhost:3000`'],
  ['a host is unknown', around('location / { proxy_pass http://nosuch.invalid; }'), 'write `server NAME resolve=lazy;`'],
  ['a zone is not defined', around('limit_req zone=one;'), 'no `limit_req_zone` defines it'],
  ['if has ==', around('if ($host == b) { return 403; }'), 'write `$host = b`'],
  ['a size has another unit', around('client_max_body_size 10MB;'), 'write `10m`'],
  ['a flag has another word', around('gzip yes;'), 'it must be "on" or "off"'],
  ['an argument is too many', around('root /a /b;'), 'it takes one argument, 2 are given'],
  ['a variable is misspelt', around('return 200 $hots;'), 'did you mean `$host`?'],
  [
    'a certificate is not there',
    around('ssl_certificate no.pem;\nssl_certificate_key no.key;').replace('%%PORT_0%%;', '%%PORT_0%% ssl;'),
    'relative names start at the folder of the main configuration file',
  ],
  [
    'TLS has no certificate',
    around('return 200;').replace('%%PORT_0%%;', '%%PORT_0%% ssl;'),
    'name its `ssl_certificate` and `ssl_certificate_key`',
  ],
  ['an included file is not there', around('include no.conf;'), 'a relative name starts at the folder of the main file'],
  ['a directive is of a module of others', around('more_set_headers "X: y";'), '`add_header NAME VALUE always` does the same'],
  ['a directive is of NGINX Plus', around('status;'), '`sluice_status`, `api` and `dashboard` show the counters'],
  [
    'two servers are the default',
    around('return 200;', 'server { listen 127.0.0.1:%%PORT_0%% default_server; }').replace('%%PORT_0%%;', '%%PORT_0%% default_server;'),
    'take `default_server` off one of them',
  ],
  [
    'a location stands in another',
    around('location /a/ { location /b { return 200; } }'),
    'write `location /a/b`, or move it out of the block',
  ],
];

t.test('each of the mistakes that people make first is answered by what to write', async (t) => {
  t.ok(MISTAKES.length >= 22);
  for (const [mistake, conf, told] of MISTAKES) {
    const { code, stderr } = await testConfig(t, conf);
    t.equal(code, 1, mistake);
    t.match(stderr, told, mistake);
    t.match(stderr, /\n +\d+ \| |hint: /, `${mistake}: it shows where`);
  }
});

t.test('what nginx accepts, lint tells', async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': around('location (^/x) { return 200; }') });
  const { stdout, stderr } = await runCli(['lint', '-p', `${dir}/`, '-c', 'sluice.conf']);
  t.match(`${stdout}${stderr}`, /`~`|location ~/);
});
