// Drives wrk, and reads what it found.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { pinned } from './servers.mjs';

/** Writes the script that makes wrk ask for the row's paths in turn and print its result in a form to read. */
export function writeScript(file, row) {
  const headers = Object.entries(row.headers ?? {}).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}\n`);
  const upload = row.upload === undefined ? '' : `wrk.method = 'PUT'\nwrk.body = string.rep('x', ${row.upload})\n`;
  const many = `local requests, i = {}, 0
function init(args)
  for n, path in ipairs({ ${row.paths.map(lua).join(', ')} }) do requests[n] = wrk.format('GET', path) end
end
function request()
  i = i % #requests + 1
  return requests[i]
end
`;
  const report = `function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.bytes, latency:percentile(50), latency:percentile(99), e.status, e.connect + e.read + e.write + e.timeout))
end
`;
  writeFileSync(file, headers.join('') + upload + (row.paths.length > 1 ? many : '') + report);
}

/** Sends one request of the row and throws when the answer is not the one that is to be measured. */
export async function check({ port, row, name }) {
  const send = row.tls ? httpsRequest : httpRequest;
  const response = await new Promise((done, fail) => {
    const options = { port, host: '127.0.0.1', path: row.paths[0], headers: row.headers, rejectUnauthorized: false, agent: false };
    const method = row.upload === undefined ? 'GET' : 'PUT';
    send({ ...options, method }, (message) => done(message.resume()))
      .once('error', fail)
      .end(row.upload === undefined ? undefined : Buffer.alloc(row.upload));
  });
  const found = { status: response.statusCode, ...response.headers };
  for (const [key, wanted] of Object.entries({ status: 200, ...row.expect })) {
    if (found[key] !== wanted) {
      throw new Error(`${row.name}: ${name} answered with ${key} ${found[key]}, not ${wanted}`);
    }
  }
}

/** Loads a server for some seconds with keep-alive connections, unless the row closes them. Latencies are in microseconds. */
export async function load(target) {
  return target.row.resumes ? resume(target) : ask(target);
}

/** One connection after the other, each going on with the session of the first; wrk begins a new one each time. */
async function resume({ port, row, seconds }) {
  const options = ['-reuse', '-connect', `127.0.0.1:${port}`, '-www', row.paths[0], '-time', String(seconds)];
  const [file, ...args] = pinned(1, ['openssl', 's_time', ...options]);
  const { stdout } = await promisify(execFile)(file, args);
  const found = /^(\d+) connections in \d+ real seconds, (\d+) bytes/m.exec(stdout.slice(stdout.indexOf('starting')));
  if (found === null) {
    throw new Error(`openssl s_time: ${stdout}`);
  }
  const requests = Number(found[1]);
  return { requests, bytes: requests * Number(found[2]), p50: 0, p99: 0, refused: 0, broken: 0 };
}

async function ask({ script, port, row, seconds }) {
  const url = `${row.tls ? 'https' : 'http'}://127.0.0.1:${port}${row.paths[0]}`;
  const [file, ...args] = pinned(1, [
    'wrk',
    '-t',
    '1',
    '-c',
    String(row.connections ?? 64),
    '-d',
    `${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    script,
    url,
  ]);
  const { stdout } = await promisify(execFile)(file, args);
  const result = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout);
  if (result === null) {
    throw new Error(`wrk: ${stdout}`);
  }
  const [requests, bytes, p50, p99, refused, broken] = result.slice(1).map(Number);
  return { requests, bytes, p50, p99, refused, broken };
}

function lua(text) {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
