// Sends the requests of test/protocol and mutations of them to an nginx and to our parser, and compares what both make of the head: status,
// reason in the error log, method, URI, host, selected server, some headers, length. Prints each difference and exits with 1 when there is
// one.
//
//   node scripts/compare-heads.mjs NGINX_EXECUTABLE [--count 2000] [--seed 1]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
if (positionals.length !== 1) {
  throw new Error('usage: node scripts/compare-heads.mjs NGINX_EXECUTABLE [--count N] [--seed N]');
}

const root = new URL('..', import.meta.url);
const prefix = mkdtempSync(join(tmpdir(), 'compare-heads-'));
mkdirSync(join(prefix, 'logs'));
const bundle = join(prefix, 'codec.mjs');
const modules = ['src/worker/http/syntax/head-parser', 'src/worker/http/syntax/header-names', 'test/protocol/cases'];
await build({
  stdin: { contents: modules.map((name) => `export * from './${name}.js';`).join('\n'), resolveDir: root.pathname, loader: 'ts' },
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  logLevel: 'warning',
});
const { HEAD_AGAIN, HEAD_DONE, HeadParser, readCases } = await import(bundle);

// ------------------------------------------------------------------ the two parsers

const common = {
  headerBufferSize: 256,
  largeBufferCount: 3,
  largeBufferSize: 512,
  maxHeaders: 20,
  ignoreInvalidHeaders: true,
  underscoresInHeaders: false,
  mergeSlashes: true,
  allowConnect: false,
};
const servers = {
  first: common,
  a: { ...common, largeBufferCount: 2, largeBufferSize: 700, maxHeaders: 8, ignoreInvalidHeaders: false },
  b: { ...common, underscoresInHeaders: true },
};

function ours(request) {
  const reasons = [];
  let server = 'first';
  const parser = new HeadParser(common, {
    selectServer(head) {
      if (Object.hasOwn(servers, head.host)) {
        server = head.host;
        parser.limits = servers[server];
      }
      return 0;
    },
    ignoredHeader: (_head, line) => reasons.push(`client sent invalid header line: "${line}"`),
  });
  const code = parser.parse(request, 0, request.length);
  const { head } = parser;
  let status = code === HEAD_DONE ? 200 : code;
  if (code === HEAD_AGAIN) {
    parser.abandon();
    status = 400;
    reasons.push('client prematurely closed connection');
  } else if (code !== HEAD_DONE) {
    reasons.push(head.error);
  }
  const fields = [status === 494 ? 400 : status, head.length, head.line, head.method, head.uri, head.args, head.unparsedUri];
  fields.push(head.host || server, head.port || '', head.protocol, server, head.joined('cookie', '; '), head.joined('user-agent', ', '));
  return [...fields.map(logged), ...reasons].join('\n');
}

/** As nginx escapes variables in an access log; what is empty and what is missing look alike here. */
function logged(value) {
  const text = String(value ?? '').replace(
    /[\0-\x1f"\\\x7f-\xff]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return text === '-' ? '' : text;
}

const variables =
  'status request_length request request_method uri args request_uri host request_port server_protocol server_name http_cookie http_user_agent';
const port = await freePort();
const sizes = ({ largeBufferCount, largeBufferSize, maxHeaders }) =>
  `large_client_header_buffers ${largeBufferCount} ${largeBufferSize}; max_headers ${maxHeaders};`;
const server = (name, more) =>
  `server { listen 127.0.0.1:${port}; server_name ${name}; ${sizes(servers[name])} ${more} location / { return 200; } }`;
writeFileSync(
  join(prefix, 'nginx.conf'),
  `daemon off; master_process off; pid nginx.pid; error_log logs/error.log info; events {}
   http { log_format t '${variables
     .split(' ')
     .map((name) => `$${name}`)
     .join('\\t')}'; access_log logs/access.log t;
     client_header_buffer_size ${common.headerBufferSize}; keepalive_timeout 0; lingering_close off; client_max_body_size 0;
     ${server('first', '')} ${server('a', 'ignore_invalid_headers off;')} ${server('b', 'underscores_in_headers on;')} }`,
);
const nginx = spawn(positionals[0], ['-p', prefix, '-c', 'nginx.conf', '-e', 'logs/error.log'], { stdio: 'inherit' });
const logs = {};

/** What was added to a log since the last call. */
function added(name) {
  logs[name] ??= { fd: openSync(join(prefix, 'logs', `${name}.log`), 'r'), at: 0 };
  const buffer = Buffer.alloc(1 << 16);
  return buffer.toString('latin1', 0, readSync(logs[name].fd, buffer, 0, buffer.length, logs[name].at));
}

async function theirs(request) {
  await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', resolve);
    socket.resume();
    socket.end(request);
  });
  let line = '';
  for (let i = 0; i < 300 && !line.endsWith('\n'); i++) {
    line = added('access');
    if (line === '') {
      await sleep(1);
    }
  }
  logs.access.at += line.length;
  const errors = added('error');
  logs.error.at += errors.length;
  const reasons = [...errors.matchAll(/ \*\d+ (client sent [\s\S]*?|client prematurely closed connection)(?: while [a-z ]+)?, client: /g)];
  // An error of the body or of a condition comes after the head.
  const body = /client sent invalid chunked body|\n\S+ \S+ \[error\]/.test(`\n${errors}`) || line.startsWith('412');
  const fields = line.replace(/\n$/, '').split('\t');
  return body ? undefined : [...fields.map((field) => (field === '-' ? '' : field)), ...reasons.map((found) => found[1])].join('\n');
}

// ------------------------------------------------------------------ the requests

let state = Number(options.seed);
function random(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const bytes = '\r\n\t \0\x01:/?#%.+_-@[]()aZ09HTP\x7f\x80\xff;=,"\\';
function mutated(seeds) {
  let text = seeds[random(seeds.length)];
  for (let i = random(4); i >= 0; i--) {
    const at = random(text.length + 1);
    const byte = bytes[random(bytes.length)];
    const put = ['', byte, byte.repeat(random(300)), seeds[random(seeds.length)].slice(random(20), 30)][random(4)];
    text = text.slice(0, at) + put + text.slice(at + random(3));
  }
  return text || 'GET /';
}

const seeds = [...readCases(new URL('test/protocol/', root)).values()].flat().filter(({ meta }) => meta.type !== 'chunked');
const texts = seeds.map(({ input }) => input.toString('latin1')).filter((text) => text !== '');
const short = texts.filter((text) => text.length < 300);
const count = texts.length + Number(options.count);
while (texts.length < count) {
  texts.push(mutated(short));
}

let different = 0;
let skipped = 0;
try {
  await sleep(300);
  for (const text of texts) {
    const request = Buffer.from(text, 'latin1');
    const expected = await theirs(request);
    const found = ours(request);
    // nginx has written zeros over the text of a line that it quotes as too long.
    if (expected === undefined || expected.includes('\0')) {
      skipped++;
    }
    if (expected === undefined || expected === found || expected.includes('\0')) {
      continue;
    }
    different++;
    console.log(`${JSON.stringify(text)}\n  nginx ${JSON.stringify(expected)}\n  ours  ${JSON.stringify(found)}`);
  }
} finally {
  nginx.kill();
  rmSync(prefix, { recursive: true, force: true });
}
console.log(`${texts.length} requests, ${skipped} not comparable, ${different} with a difference`);
process.exit(different === 0 ? 0 : 1);

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const found = /** @type {import('node:net').AddressInfo} */ (probe.address()).port;
      probe.close(() => resolve(found));
    });
  });
}
