// Has V8 compile the bundles of a build, by serving with them: `node scripts/code-cache.mjs DIST` writes the file `.cache` beside each, and
// which version of Node can use these.
// What the server ran until its first answer is in it, compiled; other functions are compiled when they are first called, as always.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import vm from 'node:vm';

const dist = resolve(process.argv[2] ?? 'dist');
const work = mkdtempSync(join(tmpdir(), 'sluice-code-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));

const scripts = [];
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The cache keeps the name, which is nobody's business elsewhere; whoever uses the cache gives the script its own.
    // A copy of the name: V8 would keep the text that a slice is part of.
    super(source, { ...options, filename: Buffer.from(basename(options.filename)).toString() });
    scripts.push({ script: this, file: options.filename });
  }
};

const socket = `${work}/socket`;
writeFileSync(
  `${work}/server.conf`,
  `master_process off; daemon off; pid ${work}/pid; error_log ${work}/error.log notice; events { }
http { types { text/html html; } access_log ${work}/access.log; proxy_temp_path ${work}/p; client_body_temp_path ${work}/b; fastcgi_temp_path ${work}/f;
  uwsgi_temp_path ${work}/u; scgi_temp_path ${work}/s; server { listen unix:${socket}; server_name localhost; root ${work}; location / { } location = /ok { return 200 ok; } } }`,
);
process.argv.splice(1, process.argv.length, `${dist}/sluice.js`, '-p', `${work}/`, '-c', 'server.conf', '-e', 'error.log');
createRequire(import.meta.url)(process.argv[1]);

for (const until = Date.now() + 120_000; !(await answered('/ok')); ) {
  if (Date.now() > until) {
    throw new Error('the server that was built does not answer');
  }
}
// One that is not there is for the log.
await answered('/missing');
writeFileSync(`${dist}/code-cache.version`, `${process.version}\n`);
for (const { script, file } of scripts) {
  writeFileSync(`${file}.cache`, script.createCachedData());
}
process.exit(0);

function answered(path) {
  return new Promise((done) => {
    const client = connect(socket, () => client.write(`GET ${path} HTTP/1.0\r\n\r\n`));
    client.once('data', () => done(true));
    client.once('error', () => setTimeout(done, 10, false));
  });
}
