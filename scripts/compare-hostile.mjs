// Plays the cases of test/hostile, and mutations of them, to an nginx and to the built server, each in front of the same strict backend,
// and compares what both answer and what both pass on. Prints each difference that no case lists, and exits with 1 when there is one.
// With --write it fills in the `log` and `nginx` blocks of cases that have no `log` yet, to be read before they are kept.
//
//   node scripts/compare-hostile.mjs NGINX_EXECUTABLE [--count 2000] [--seed 1] [--write]
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
if (positionals.length !== 1) {
  throw new Error('usage: node scripts/compare-hostile.mjs NGINX_EXECUTABLE [--count N] [--seed N] [--write]');
}

const root = new URL('..', import.meta.url);
const folder = new URL('test/hostile/', root);
const prefix = mkdtempSync(join(tmpdir(), 'compare-hostile-'));
chmodSync(prefix, 0o755);
const bundle = join(prefix, 'cases.mjs');
const modules = ['cases', 'configuration', 'exchange', 'strict-backend'];
await build({
  stdin: {
    contents: modules.map((name) => `export * from './test/hostile/${name}.js';`).join('\n'),
    resolveDir: root.pathname,
    loader: 'ts',
  },
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  logLevel: 'warning',
});
const { configuration, files, playCase, readHostileCases, startStrictBackend } = await import(bundle);

// ------------------------------------------------------------------ the two servers

const running = [];
const backend = await startStrictBackend();

async function start(name, command) {
  const dir = join(prefix, name);
  const port = await freePort();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  mkdirSync(join(dir, 'logs'));
  const text = configuration(backend.port).replaceAll('%%DIR%%', dir).replaceAll('%%PORT_0%%', String(port));
  writeFileSync(
    join(dir, 'test.conf'),
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log info;\n${text}`,
  );
  const [program, ...args] = command;
  running.push(spawn(program, [...args, '-p', `${dir}/`, '-c', 'test.conf', '-e', `${dir}/error.log`], { stdio: 'inherit' }));
  for (let i = 0; !(await accepts(port)); i++) {
    if (i === 100) {
      throw new Error(`${name} does not start`);
    }
    await sleep(50);
  }
  return (played) => playCase(port, backend, played);
}

const accepts = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
    socket.on('connect', () => socket.destroy());
  });

function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => done(port));
    });
  });
}

// ------------------------------------------------------------------ mutations

let state = Number(options.seed);
function random(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pieces = [
  '\r',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '\0',
  '\x0b',
  '\x7f',
  '\xff',
  ':',
  '/',
  '?',
  '#',
  '%',
  '%2e',
  '%0d%0a',
  '..',
  ';',
  ',',
  '0',
  '5',
  'f',
];
pieces.push('Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: b.test\r\n', ' HTTP/1.1', '"', '\\', '@', '+', '-');

function mutated(cases) {
  const { request, response } = cases[random(cases.length)];
  const change = (bytes) => {
    let text = bytes.toString('latin1');
    for (let i = random(3); i >= 0; i--) {
      const at = random(text.length + 1);
      const other = cases[random(cases.length)].request.toString('latin1');
      const put = ['', pieces[random(pieces.length)], pieces[random(pieces.length)], other.slice(random(30), 40)][random(4)];
      text = text.slice(0, at) + put + text.slice(at + random(3));
    }
    return Buffer.from(text, 'latin1');
  };
  return response === undefined ? { request: change(request), response } : { request, response: change(response) };
}

// ------------------------------------------------------------------ the comparison

let different = 0;
let played = 0;

/** What nginx does in a case that says nothing of a difference is its `log`. */
function compare(title, found, listed) {
  const difference = ['sluice', 'nginx'].filter((name) => found[name].join('\n') !== listed[name].join('\n'));
  if (difference.length === 0) {
    return;
  }
  different++;
  console.log(`${title}\n${difference.map((name) => `  ${name}: ${found[name].join('\n          ')}`).join('\n')}`);
}

const sections = (markdown) => markdown.split(/^(?=## )/m);
const block = (name, lines) => `\n\`\`\`${name}\n${lines.join('\n')}\n\`\`\`\n`;

try {
  const sluice = await start('sluice', [process.execPath, new URL('dist/sluice.js', root).pathname]);
  const nginx = await start('nginx', [positionals[0]]);
  const play = async (one) => ({ sluice: await sluice(one), nginx: await nginx(one) });
  const short = [];
  for (const [name, cases] of readHostileCases(folder)) {
    const path = new URL(name, folder);
    const texts = options.write ? sections(readFileSync(path, 'utf8')) : [];
    for (const [i, one] of cases.entries()) {
      played++;
      if (one.request.length < 2000 && (one.response?.length ?? 0) < 2000) {
        short.push(one);
      }
      const found = await play(one);
      if (!options.write || one.log.length > 0) {
        compare(`${name}: ${one.title}`, found, { sluice: one.log, nginx: one.nginx ?? one.log });
      } else {
        const same = found.sluice.join('\n') === found.nginx.join('\n');
        texts[i + 1] = `${texts[i + 1].trimEnd()}\n${block('log', found.sluice)}${same ? '' : block('nginx', found.nginx)}\n`;
      }
    }
    if (options.write) {
      writeFileSync(path, `${texts.join('').trimEnd()}\n`);
    }
  }
  for (let i = 0; i < Number(options.count); i++) {
    const one = mutated(short);
    const found = await play(one);
    played++;
    compare(JSON.stringify([one.request.toString('latin1'), one.response?.toString('latin1')]), found, {
      sluice: found.nginx,
      nginx: found.sluice,
    });
  }
} finally {
  for (const child of running) {
    child.kill();
  }
  await Promise.all(running.map((child) => child.exitCode ?? new Promise((done) => child.once('exit', done))));
  backend.stop();
  rmSync(prefix, { recursive: true, force: true });
}
console.log(`${played} cases, ${different} with a difference that is not listed`);
process.exit(different === 0 ? 0 : 1);
