// Drives h2load over HTTP/2 in rows that ask for it, else over HTTP/1.1, and reads what it found: the same answers as wrk.mjs gives, for
// whoever doubts one load generator.
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { pinned } from './servers.mjs';

/** Writes the list of what is asked for in turn, and what is posted. */
export function writeScript(file, row) {
  writeFileSync(file, row.paths.map((path) => `http://localhost${path}\n`).join(''));
  if (row.body !== undefined) {
    writeFileSync(`${file}.body`, row.body, 'latin1');
  }
}

/** Why a row cannot be measured with h2load; undefined when it can. */
export function cannot(row) {
  if (row.upload !== undefined) {
    return 'h2load is not told how to upload';
  }
  return row.resumes || row.headers?.Connection === 'close' ? 'h2load makes no new connections' : undefined;
}

/**
 * Loads a server for some seconds with keep-alive connections; a row for HTTP/2 has `streams` requests under way on each. Latencies
 * are in microseconds.
 */
export async function load({ script, port, row, seconds }) {
  const log = `${script}.log`;
  rmSync(log, { force: true });
  const headers = Object.entries(row.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const base = `${row.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const protocol = row.http2 ? ['-m', String(row.streams ?? 32)] : ['--h1'];
  const how = [...protocol, '-t', '1', '-c', String(row.connections ?? 64), '-D', String(seconds), `--log-file=${log}`];
  const post = row.body === undefined ? [] : ['-d', `${script}.body`];
  const [file, ...args] = pinned(1, ['h2load', ...how, ...post, ...headers, '-B', base, '-i', script]);
  const { stdout } = await promisify(execFile)(file, args);
  const requests = /^requests: .* (\d+) done, \d+ succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$/m.exec(stdout);
  const bytes = /^traffic: .*\((\d+)\) total/m.exec(stdout);
  if (requests === null || bytes === null) {
    throw new Error(`h2load: ${stdout}`);
  }
  const [done, failed, errored, late] = requests.slice(1).map(Number);
  return { requests: done, bytes: Number(bytes[1]), ...percentiles(log), refused: failed - errored, broken: errored + late };
}

/** From a line for each request: its start, its status, and its microseconds. */
function percentiles(log) {
  const times = Float64Array.from(readFileSync(log, 'latin1').trimEnd().split('\n'), (line) => Number(line.split('\t')[2])).sort();
  const at = (share) => times[Math.floor(times.length * share)];
  return { p50: at(0.5), p99: at(0.99) };
}
