// Runs one program on one server, inside namespaces that main.mjs made: the file system is a copy that nobody keeps, the network has
// nothing but backends and a name server that answer for all names. Writes the answers.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { exchange } from './exchange.mjs';
import { requestsOf } from './requests.mjs';

const { row, server, checkouts, out } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const shell = (text) => execFileSync('sh', ['-ec', text], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

// A file system of its own: what is there, and what is changed in memory.
shell(`mkdir -p /mnt && mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root && mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
mount --rbind /proc /mnt/root/proc && mount --rbind /dev /mnt/root/dev && mount -t tmpfs tmpfs /mnt/root/tmp`);
const root = '/mnt/root';
const at = (path) => join(root, path);
const write = (path, text) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

// The program's files and its configuration.
const checkout = join(checkouts, row.repository.replace('/', '_'));
mkdirSync(at('/etc/nginx/logs'), { recursive: true });
mkdirSync(at('/var/log/nginx'), { recursive: true });
mkdirSync(at('/var/lib/nginx/state'), { recursive: true });
shell(`chmod -R a+rwX ${at('/var/log/nginx')} ${at('/var/lib/nginx')} ${at('/tmp')} ${at('/etc/nginx')}; chmod 1777 ${at('/tmp')}`);
write(
  '/etc/nginx/mime.types',
  'types { text/html html htm; text/css css; application/javascript js; application/json json; image/png png; }\n',
);
write('/etc/nginx/fastcgi_params', '');
for (const [to, from] of Object.entries(row.files ?? {})) {
  mkdirSync(dirname(at(to)), { recursive: true });
  cpSync(join(checkout, from), at(to), { recursive: true });
}
for (const [to, text] of Object.entries(row.texts ?? {})) {
  write(to, text);
}
const conf = row.conf ?? '/etc/nginx/nginx.conf';
for (const path of new Set([conf, ...(row.edits ?? []).map((edit) => edit[0])])) {
  let text = readFileSync(at(path), 'utf8');
  for (const [file, from, to] of row.edits ?? []) {
    if (file === path) {
      text = text.replaceAll(new RegExp(from, 'gm'), to);
    }
  }
  if (path === conf) {
    text = text
      .replaceAll(/^\s*(?:load_module|user|daemon|pid|worker_processes|error_log)\s[^;]*;/gm, '')
      .replaceAll(/^(\s*)access_log\s+\/dev\/[^;]*;/gm, '$1');
    text = `${server.main ?? ''}worker_processes 1;\nerror_log /var/log/nginx/all.log info;\n${/^\s*events\s*\{/m.test(text) ? '' : 'events {}\n'}${text}`;
  }
  write(path, text);
}
if (row.include !== undefined) {
  oldNjs(row.include);
}
shell(`chmod -R a+rX ${at('/etc/nginx')}`);
for (const command of row.setup ?? []) {
  shell(`chroot ${root} sh -ec ${JSON.stringify(command).replaceAll('$', '\\$')}`);
}

// The network: the program here, its backends behind a cable, every name the backends'.
const names = row.hosts ?? [];
shell('ip link set lo up');
const backends = spawn('unshare', ['-n', process.execPath, join(import.meta.dirname, 'backends.mjs'), JSON.stringify(row.backends ?? {})], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
await new Promise((resolve) => backends.stdout.once('data', resolve));
shell(`ip link add v0 type veth peer name v1 && ip link set v1 netns ${backends.pid} && ip addr add 10.9.0.1/16 dev v0 && ip link set v0 up
ip -6 addr add fd09::1/64 dev v0 nodad`);
backends.stdin.write('go\n');
await new Promise((resolve) => backends.stdout.once('data', resolve));
for (const address of row.resolvers ?? ['127.0.0.11']) {
  if (!address.startsWith('127.')) {
    shell(`ip addr add ${address}/32 dev lo`);
  }
}
write('/etc/hosts', `127.0.0.1 localhost\n${names.map((name) => `10.9.0.2 ${name}\n`).join('')}`);
const dns = spawn(process.execPath, [join(import.meta.dirname, 'names.mjs'), ...(row.resolvers ?? ['127.0.0.11'])], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await new Promise((resolve) => dns.stdout.once('data', resolve));

// The server, and the requests.
const env = { ...process.env, ...row.env };
const [program, ...first] = server.command;
const running = spawn('chroot', [root, program, ...first, '-p', '/etc/nginx/', '-c', conf, '-g', 'daemon off;'], {
  env,
  stdio: ['ignore', 'pipe', 'pipe'],
});
let said = '';
running.stderr.on('data', (data) => (said += data));
running.stdout.on('data', (data) => (said += data));
let ended = false;
running.once('exit', () => (ended = true));
const text = readFileSync(at(conf), 'utf8') + (row.more ?? []).map((path) => readFileSync(at(path), 'utf8')).join('\n');
const requests = requestsOf(row, text);
if (!(await up(requests[0].port))) {
  process.stderr.write(`${said}\n${log()}`);
  process.exit(1);
}
const answers = [];
for (const request of requests) {
  answers.push({ request: request.name, answer: await exchange(request, row.mask ?? []) });
}
for (const path of row.logs ?? []) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  const lines = existsSync(at(path)) ? readFileSync(at(path), 'utf8') : 'no file';
  answers.push({ request: path, answer: (row.mask ?? []).reduce((now, pattern) => now.replaceAll(new RegExp(pattern, 'g'), '*'), lines) });
}
writeFileSync(out, JSON.stringify({ answers, log: log() }));
process.exit(0);

/** Whether the server takes connections. */
async function up(port) {
  for (let tries = 0; tries < 300 && !ended; tries += 1) {
    const connected = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (connected) {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

function log() {
  const path = at('/var/log/nginx/all.log');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return lines
    .filter((line) => /\[(?:emerg|alert|crit|error|warn)\]/.test(line) || /^\s+at /.test(line))
    .slice(-12)
    .join('\n')
    .slice(-2500);
}

/** A program for the `js_include` of njs before 0.7: its functions become a default export, as its documentation says to do. */
function oldNjs({ file, conf: path }) {
  const source = readFileSync(at(file), 'utf8');
  const functions = [...source.matchAll(/^(?:async )?function (\w+)/gm)].map((match) => match[1]);
  write(file, `${source}\nexport default { ${[...new Set(functions)].join(', ')} };\n`);
  const text = readFileSync(at(path ?? conf), 'utf8')
    .replaceAll(/js_include\s+(\S+);/g, 'js_import old from $1;')
    .replaceAll(/(js_(?:content|filter|access|preread|header_filter|body_filter)\s+)(\w+)\s*;/g, '$1old.$2;')
    .replaceAll(/(js_set\s+\$\w+\s+)(\w+)\s*;/g, '$1old.$2;');
  write(path ?? conf, text);
}
