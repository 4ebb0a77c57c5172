// Sends generated requests to running servers with real configurations, and through `sluice explain`'s engine, and compares what both make
// of them: status, headers, body, server, location, URI, what backends are asked, and log lines. Prints each difference, and exits with 1
// when there is one. Needs dist/ (npm run build).
//
//   node --import ./scripts/tests/load.mjs scripts/compare-explain.mjs SUITE.jsonl \
//     [--configs 50] [--requests 2000] [--seed 1] [--only ID] [--reasons]
//
// A line of the suite is a JSON object with `id`, `conf` (the text), `files` (by path: `text`, `dir` or `pem`) and `result` (`ok` for one
// that nginx takes). Ports, paths and backends are put in the place of the configuration's own.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseConfig } from '../src/shared/config/language/parser.ts';
import { loadConfiguration } from '../src/tools/configuration.ts';
import { Rehearsal } from '../src/tools/rehearsal/rehearsal.ts';
import { documentSlot } from '../src/worker/http/request/document-settings.ts';
import { compareExplain, RealBackend, TOKEN } from '../test/support/compare-explain.ts';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    configs: { type: 'string', default: '50' },
    requests: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    reasons: { type: 'boolean', default: false },
  },
});
if (positionals.length !== 1) {
  throw new Error(
    'usage: node --import ./scripts/tests/load.mjs scripts/compare-explain.mjs SUITE.jsonl [--configs N] [--requests N] [--seed N] [--only ID]',
  );
}
const suite = positionals[0];
const wanted = Number(options.configs);
const each = Math.ceil(Number(options.requests) / wanted);

let state = Number(options.seed) >>> 0;
/** A number below n, the same ones in each run. */
function random(n) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
}
const oneOf = (list) => list[random(list.length)];

/** Directives whose first argument is a path. */
const PATHS =
  /^(root|alias|include|ssl_(certificate|certificate_key|dhparam|trusted_certificate|client_certificate|crl|password_file)|auth_basic_user_file|.*_(temp|cache)_path)$/;
const PASSES = /^(proxy|grpc|fastcgi|uwsgi|scgi|memcached)_pass$/;
/** What would make the two differ for good reasons, or cannot run here. */
const LEFT_OUT =
  /^(user|pid|lock_file|daemon|master_process|worker_processes|worker_priority|worker_rlimit_nofile|worker_cpu_affinity|error_log|load_module|ssl_stapling.*|ssl_trusted_certificate|stream|mail|resolver|resolver_timeout|open_log_file_cache|proxy_bind|stub_status|quic.*|http3.*|ssl_early_data|accept_mutex|use|debug_connection|worker_connections|working_directory|ssl_engine|health_check)$/;
const REFUSED =
  /^(js_.*|perl.*|lua_.*|.*_by_lua.*|geoip.*|mirror|image_filter.*|xslt.*|split_clients|random|auth_http|dav_.*|empty_gif_.*|proxy_store|zone|random_index|autoindex|userid|sub_filter_.*)$/;

class Unfit extends Error {}

function quoted(text) {
  return text === '' || /[\s;"'{}#]|\\[tnr"'\\]/.test(text) ? `"${text.replace(/\\(?=["'\\tnr])/g, '\\\\').replaceAll('"', '\\"')}"` : text;
}

class Adapter {
  constructor(dir, backend, ports, log) {
    this.dir = dir;
    this.backend = backend;
    this.ports = ports;
    this.log = log;
    this.groups = new Set();
    this.known = new Map();
  }

  text(source, file) {
    const nodes = parseConfig(source, file);
    this.#collect(nodes);
    return this.#all(nodes, 'main');
  }

  #collect(nodes) {
    for (const node of nodes) {
      if (node.syntaxError !== undefined) {
        throw new Unfit(node.syntaxError);
      }
      if (node.name === 'upstream') {
        this.groups.add(node.args[0]);
      }
      this.#collect(node.block ?? []);
    }
  }

  #all(nodes, context) {
    return nodes.map((node) => this.#one(node, context)).join('\n');
  }

  #one(node, context) {
    const { name, block } = node;
    const free = context === 'free';
    if (!free && REFUSED.test(name)) {
      throw new Unfit(name);
    }
    if (!free && LEFT_OUT.test(name)) {
      return '';
    }
    let args = [...node.args];
    if (!free && PATHS.test(name) && args[0]?.startsWith('/')) {
      args[0] = this.dir + args[0];
    } else if (!free && name === 'access_log' && args[0] !== 'off') {
      args = [this.log, ...args.slice(1).filter((arg, i) => i === 0 || arg.startsWith('if='))];
    } else if (!free && name === 'listen') {
      args = this.#listen(args);
    } else if (context === 'upstream' && name === 'server') {
      args = [`127.0.0.1:${this.backend}`, ...args.slice(1).filter((arg) => !/^(resolve|service=|slow_start|route=)/.test(arg))];
    } else if (!free && PASSES.test(name)) {
      args = [this.#pass(args[0])];
    } else if (!free && (name === 'limit_req_zone' || name === 'limit_conn_zone')) {
      args = args.map((arg) => arg.replace(/^rate=(\d+)/, (_all, rate) => `rate=${rate}000`));
    }
    const words = [name, ...args].map(quoted).join(' ');
    if (block === undefined) {
      return `${words};`;
    }
    const inside = /^(map|geo|types|match|charset_map|split_clients)$/.test(name) || free ? 'free' : name;
    const logs = name === 'http' && !block.some((inner) => inner.name === 'access_log') ? `access_log ${this.log};\n` : '';
    const first = name === 'http' ? `explain_token ${TOKEN};\n${logs}` : name === 'events' ? 'worker_connections 512;\n' : '';
    const own = name === 'server' && !block.some((inner) => inner.name === 'listen') ? 'listen 80;' : '';
    const listen = own === '' ? '' : `listen ${this.#listen(['80']).join(' ')};\n`;
    return `${words} {\n${first}${listen}${this.#all(block, inside)}\n}`;
  }

  #listen(args) {
    const [where, ...rest] = args;
    if (where.startsWith('unix:') || rest.includes('quic')) {
      throw new Unfit('listen');
    }
    const port = /(?:^|:)(\d+)$/.exec(where)?.[1] ?? '80';
    if (!this.known.has(port)) {
      this.known.set(port, this.ports.shift());
    }
    const host = where.startsWith('[') ? '127.0.0.2' : '127.0.0.1';
    return [
      `${host}:${this.known.get(port)}`,
      ...rest.filter((arg) => !/^(ipv6only|reuseport|fastopen|backlog|deferred|so_keepalive|sndbuf|rcvbuf|setfib)/.test(arg)),
    ];
  }

  #pass(target) {
    const [, scheme, host, rest] = /** @type {RegExpExecArray} */ (/^((?:https?|grpcs?):\/\/)?([^/$]*(?:\$[a-z_]+)?)(.*)$/s.exec(target));
    if (host.startsWith('$') || target.includes('unix:') || /^\$/.test(target)) {
      throw new Unfit('pass by a variable');
    }
    const plain = scheme?.replace('https', 'http').replace('grpcs', 'grpc') ?? '';
    const name = host.replace(/\$.*$/, '');
    const tail = host.slice(name.length) + rest;
    return this.groups.has(name) ? `${plain}${name}${tail}` : `${plain}127.0.0.1:${this.backend}${tail}`;
  }
}

const freePorts = (count) =>
  Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((done) => {
          const server = createServer().listen(0, '127.0.0.1', () => done(server));
        }),
    ),
  ).then(async (servers) => {
    const ports = servers.map((server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port);
    await Promise.all(servers.map((server) => new Promise((/** @type {(value?: any) => void} */ done) => server.close(done))));
    return ports;
  });

const pki = (file) => readFileSync(join(dirname(suite), 'pki', file), 'latin1');

function writeFiles(dir, files, adapter) {
  cpSync(join(dirname(suite), 'base-etc-nginx'), join(dir, 'etc/nginx'), { recursive: true });
  for (const [path, file] of Object.entries(files)) {
    const at = join(dir, normalize(path));
    try {
      if (file.dir !== undefined) {
        mkdirSync(at, { recursive: true });
        continue;
      }
      mkdirSync(dirname(at), { recursive: true });
      const pem = file.pem === 'key+cert' ? pki('key.pem') + pki('cert.pem') : file.pem === undefined ? undefined : pki('dh.pem');
      let text = pem ?? file.text ?? '';
      if (pem === undefined && file.text !== undefined && !/mime|types|passw/.test(path)) {
        try {
          text = adapter.text(file.text, at);
        } catch (error) {
          if (error instanceof Unfit && !/directive|unexpected/.test(error.message)) {
            throw error;
          }
        }
      }
      writeFileSync(at, text, 'latin1');
    } catch (error) {
      if (error instanceof Unfit) {
        throw error;
      }
    }
  }
}

/** Something like a path that a location's name or pattern matches. */
function pathLike({ kind, name, regex }) {
  if (kind === 'regex') {
    const words = regex.pattern.replace(/\(\?[:=!<][^)]*\)/g, '').match(/[A-Za-z0-9_/.-]+/g) ?? ['x'];
    const extension = /\\\.\(?(?:\?:)?([a-z0-9]+)/i.exec(regex.pattern)?.[1];
    return extension === undefined ? `/${words[0]}` : `/some/file.${extension}`;
  }
  return name.startsWith('@') || name === '' ? '/' : name;
}

const TAILS = ['', '', 'index.html', 'a.txt', 'missing', 'x/y.css', '../up', '%20a', 'a.php', 'api/v1/things', '/', 'style.css'];
const AGENTS = [
  'curl/8.0',
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0',
  'Mozilla/5.0 (iPhone) Mobile Safari',
  'Googlebot/2.1',
  'sqlmap',
];

function generate(rehearsal, count) {
  const places = [];
  for (const { addresses } of rehearsal.http.listeners) {
    for (const address of addresses) {
      if (address.address === '127.0.0.1') {
        places.push(address);
      }
    }
  }
  const names = (server) =>
    (server.root.info.serverNames ?? []).flatMap(({ name, regex }) =>
      regex === undefined && name !== '' ? [name.replace('*', 'any')] : [],
    );
  const requests = /** @type {import('../test/support/compare-explain.ts').ComparedRequest[]} */ ([]);
  while (requests.length < count && places.length > 0) {
    const address = oneOf(places);
    const server = oneOf(rehearsal.http.servers);
    const host = oneOf([...names(server), ...names(server), 'other.example', 'localhost']).replace(/^\./, '');
    const locations = server.locations.all;
    const base = locations.length === 0 || random(6) === 0 ? '/' : pathLike(oneOf(locations).info);
    const number = requests.length;
    const path = encodeURI(`${base}${oneOf(TAILS)}`)
      .replace(/%25/g, '%')
      .replace(/^(?!\/)/, '/');
    const method = oneOf(['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']);
    /** @type {[string, string][]} */
    const headers = [
      ['Host', host],
      ['User-Agent', oneOf(AGENTS)],
      ['Connection', 'close'],
    ];
    for (const [name, value] of [
      ['Accept-Encoding', 'gzip'],
      ['X-Forwarded-For', '203.0.113.7, 10.0.0.1'],
      ['Cookie', 'session=abc; logged_in=1'],
      ['Referer', 'https://www.google.com/'],
      ['Origin', 'https://app.example.com'],
      ['Accept', 'text/html'],
      ['Authorization', 'Basic dXNlcjpwYXNz'],
      ['Range', 'bytes=0-3'],
      ['If-None-Match', '"x"'],
    ]) {
      if (random(4) === 0) {
        headers.push([name, value]);
      }
    }
    requests.push({
      port: address.port,
      tls: address.tls !== undefined && random(12) !== 0,
      method,
      target: `${path}${path.includes('?') ? '&' : '?'}n=${number}`,
      headers,
      ...(method === 'POST' ? { body: `body ${number}` } : {}),
    });
  }
  return requests;
}

/**
 * What the backends answer, here and there.
 * @type {import('../test/support/compare-explain.ts').Answers}
 */
function answers({ uri, method }) {
  const kind = [...uri].reduce((sum, c) => sum + c.charCodeAt(0), 0) % 11;
  /** @type {[string, string][]} */
  const headers = [
    ['Content-Type', kind === 3 ? 'application/json' : 'text/html; charset=utf-8'],
    ['X-Powered-By', 'stub'],
  ];
  if (kind === 4) {
    headers.push(['Location', `http://127.0.0.1/elsewhere${uri}`]);
  }
  if (kind === 5) {
    headers.push(['Set-Cookie', 'a=b; Path=/x; Domain=backend'], ['Cache-Control', 'max-age=60']);
  }
  const status = { 4: 302, 7: 404, 8: 500, 9: 403 }[kind] ?? 200;
  return { status, headers, body: method === 'HEAD' ? '' : `<html><body>${'what the backend says '.repeat(1 + kind * 3)}</body></html>` };
}

const totals = { configs: 0, requests: 0, differences: 0, agreeing: 0, tried: 0 };

async function compare({ conf, files, id }) {
  const dir = mkdtempSync(join(tmpdir(), 'compare-explain-'));
  const real = new RealBackend(answers);
  let server;
  let rehearsal;
  try {
    const log = join(dir, 'compare.log');
    const adapter = new Adapter(dir, await real.listen(), await freePorts(12), log);
    writeFiles(dir, files, adapter);
    const entry = join(dir, 'etc/nginx/nginx.conf');
    const text = adapter.text(conf, entry);
    writeFileSync(entry, `user root;\nerror_log ${dir}/error.log;\npid ${dir}/pid;\nworker_processes 1;\ndaemon off;\n${text}\n`, 'latin1');
    for (const folder of ['logs', 'html']) {
      mkdirSync(join(dir, 'etc/nginx', folder), { recursive: true });
    }
    const prefix = `${join(dir, 'etc/nginx')}/`;
    const configuration = await loadConfiguration({
      prefix,
      entry,
      confPrefix: prefix,
      globals: '',
      pid: 'x.pid',
      errorLog: '',
      signalling: false,
    });
    rehearsal = new Rehearsal(configuration.snapshot);
    for (const location of rehearsal.http.locationOf.values()) {
      const root = location.conf(documentSlot)?.root.constant;
      if (root?.startsWith(dir)) {
        for (const file of ['index.html', 'a.txt', 'x/y.css', 'some/file.css', 'some/file.png', 'some/file.js']) {
          mkdirSync(dirname(join(root, file)), { recursive: true });
          writeFileSync(join(root, file), `${file} `.repeat(100));
        }
      }
    }
    const requests = generate(rehearsal, each);
    if (requests.length === 0) {
      throw new Unfit('no listener');
    }
    server = spawn(process.execPath, [new URL('../dist/sluice.js', import.meta.url).pathname, '-p', prefix, '-c', entry], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    server.stderr.on('data', (piece) => (errors += piece));
    const started = Date.now();
    while (!existsSync(join(dir, 'pid')) || !(await reachable(requests[0].port))) {
      if (server.exitCode !== null || Date.now() - started > 15_000) {
        throw new Unfit(`does not start: ${errors.slice(0, 200)}`);
      }
      await sleep(20);
    }
    const lines = () =>
      [log, join(prefix, 'logs/access.log')].flatMap((file) =>
        existsSync(file) ? readFileSync(file, 'latin1').split('\n').slice(0, -1) : [],
      );
    const skipped = lines().length;
    const differences = await compareExplain(rehearsal, requests, { real, answers }, async (count) => {
      for (let tries = 0; tries < 100 && lines().length - skipped < count; tries++) {
        await sleep(20);
      }
      return lines().slice(skipped);
    });
    totals.configs++;
    totals.requests += requests.length;
    totals.differences += differences.length;
    const differing = new Set(differences.map(({ request }) => request)).size;
    totals.agreeing += requests.length - differing;
    for (const { request, what, server: live, explain } of differences.slice(0, 6)) {
      console.log(
        `${id}: ${what}: ${request.method} ${request.target} ${JSON.stringify(request.headers[0])}${request.tls ? ' tls' : ''}\n  server  ${live.slice(0, 900)}\n  explain ${explain.slice(0, 900)}`,
      );
    }
    return true;
  } catch (error) {
    const { message, findings, stack } = /** @type {Error & { findings?: { message: string }[] }} */ (error);
    const reason = error instanceof Unfit ? message : `${findings?.[0]?.message ?? stack ?? error}`;
    if (options.reasons) {
      console.error(`${id}: ${reason.slice(0, 300)}`);
    }
    return false;
  } finally {
    rehearsal?.close();
    if (server !== undefined && server.exitCode === null) {
      const over = new Promise((/** @type {(value?: any) => void} */ done) => server.once('exit', done));
      server.kill('SIGTERM');
      await over;
    }
    real.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const reachable = async (port) => {
  const { connect } = await import('node:net');
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
};

const cases = readFileSync(suite, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
  .filter(
    ({ result, conf, id }) =>
      result === 'ok' && (options.only === undefined ? conf.length > 700 && conf.includes('location') : options.only === id),
  );
// Spread over the whole suite.
for (let i = cases.length - 1; i > 0; i--) {
  const j = random(i + 1);
  [cases[i], cases[j]] = [cases[j], cases[i]];
}
for (const one of cases) {
  if (totals.configs >= wanted) {
    break;
  }
  totals.tried++;
  await compare(one);
}
console.log(
  `${totals.agreeing} of ${totals.requests} requests agree (status, headers, body, server, location, URI, backends, log lines) on ${totals.configs} configurations; ${totals.differences} differences; ${totals.tried - totals.configs} of the configurations do not run here`,
);
process.exit(totals.differences === 0 ? 0 : 1);
