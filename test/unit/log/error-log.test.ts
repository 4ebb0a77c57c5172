import { readFileSync } from 'node:fs';
import t from 'tap';
import { ErrorLog, fileTarget } from '../../../src/shared/log/error-log.js';
import { ALERT, DEBUG, EMERG, ERROR, INFO, type Level, levelByName, NOTICE, WARN } from '../../../src/shared/log/level.js';
import { LogFiles } from '../../../src/shared/log/log-files.js';
import type { LogContext } from '../../../src/shared/log/log-line.js';
import type { LogTarget } from '../../../src/shared/log/log-target.js';

const collect = (level: Level, json = false): LogTarget & { lines: string[] } => {
  const lines: string[] = [];
  return { level, json, lines, write: (_level, line) => lines.push(line) };
};

const subject = (connectionId: number, context: LogContext = {}) => ({ connectionId, logContext: () => context });

const full: LogContext = {
  action: 'reading response header from upstream',
  client: '127.0.0.1',
  server: 'localhost',
  request: 'GET / HTTP/1.1',
  subrequest: '/auth',
  upstream: 'http://127.0.0.1:8081/',
  host: 'example.com',
  referrer: 'http://example.com/a',
};

t.test('levels', async (t) => {
  t.equal(levelByName('emerg'), EMERG);
  t.equal(levelByName('debug'), DEBUG);
  t.equal(levelByName(''), undefined);
  t.equal(levelByName('err'), undefined);
});

t.test('a line has nginx’s form', async (t) => {
  const target = collect(INFO);
  new ErrorLog([target]).log(ERROR, 'upstream timed out (110: Connection timed out)', subject(17, full));
  t.match(
    target.lines[0],
    /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[error\] (\d+)#\1: \*17 upstream timed out \(110: Connection timed out\) while reading response header from upstream, client: 127\.0\.0\.1, server: localhost, request: "GET \/ HTTP\/1\.1", subrequest: "\/auth", upstream: "http:\/\/127\.0\.0\.1:8081\/", host: "example\.com", referrer: "http:\/\/example\.com\/a"\n$/,
  );
});

t.test('a line without a connection, and one at level debug, has no context', async (t) => {
  const target = collect(DEBUG);
  const log = new ErrorLog([target]);
  log.log(NOTICE, 'start worker processes');
  log.log(DEBUG, 'http process request line', subject(3, full));
  t.match(target.lines[0], / \[notice\] (\d+)#\1: start worker processes\n$/);
  t.match(target.lines[1], / \[debug\] (\d+)#\1: \*3 http process request line\n$/);
});

t.test('each target takes the lines of its own level', async (t) => {
  const warnings = collect(WARN);
  const everything = collect(DEBUG);
  const log = new ErrorLog([warnings, everything]);
  t.equal(log.level, DEBUG);
  for (let level = EMERG as Level; level <= DEBUG; level++) {
    log.log(level, 'm');
  }
  const levels = (target: { lines: string[] }) => target.lines.map((line) => /\[(\w+)\]/.exec(line)?.[1]);
  t.same(levels(warnings), ['emerg', 'alert', 'crit', 'error', 'warn']);
  t.same(levels(everything), ['emerg', 'alert', 'crit', 'error', 'warn', 'notice', 'info', 'debug']);
});

t.test('the context is built only for a line that is written', async (t) => {
  let built = 0;
  const counting = { connectionId: 1, logContext: () => ({ client: String(++built) }) };
  const log = new ErrorLog([collect(WARN)]);
  log.log(INFO, 'no', counting);
  t.equal(built, 0);
  log.log(WARN, 'yes', counting);
  t.equal(built, 1);
});

t.test('no byte of a client starts a line or reaches the terminal', async (t) => {
  const target = collect(INFO);
  const hostile = '/\n2026/01/01 00:00:00 [emerg] forged\r\x1b[31m\x00\x7f\u010a';
  new ErrorLog([target]).log(ERROR, `open() "${hostile}" failed`, subject(1, { client: '::1', request: hostile, host: hostile }));
  const line = target.lines[0] as string;
  t.equal(line.indexOf('\n'), line.length - 1);
  t.notMatch(line.slice(0, -1), /[\x00-\x1f\x7f]|[^\x00-\xff]/);
  t.match(line, '/\\x0A2026/01/01 00:00:00 [emerg] forged\\x0D\\x1B[31m\\x00\\x7F\xc4\x8a');
});

t.test('a line is cut at 2048 bytes', async (t) => {
  const target = collect(INFO);
  new ErrorLog([target]).log(ERROR, 'x'.repeat(5000));
  t.equal(target.lines[0]?.length, 2048);
  t.equal(target.lines[0]?.at(-1), '\n');
});

t.test('JSON', async (t) => {
  const target = collect(INFO, true);
  const log = new ErrorLog([target]);
  log.log(ERROR, 'connect() failed', subject(5, { ...full, request: 'GET /"\\\n\x00 \xff\xc3\xa9\xc3 HTTP/1.1' }));
  log.log(NOTICE, 'reopening logs');
  const bytes = Buffer.from(target.lines[0] as string, 'latin1');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const { time, ...rest } = JSON.parse(text);
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
  t.same(rest, {
    level: 'error',
    pid: process.pid,
    connection: 5,
    client: '127.0.0.1',
    server: 'localhost',
    request: 'GET /"\\\n\x00 \xff\u00e9\xc3 HTTP/1.1',
    subrequest: '/auth',
    upstream: 'http://127.0.0.1:8081/',
    host: 'example.com',
    referrer: 'http://example.com/a',
    message: 'connect() failed while reading response header from upstream',
  });
  t.same(Object.keys(JSON.parse(target.lines[1] as string)), ['time', 'level', 'pid', 'message']);
});

t.test('debug_connection: every line goes to every target', async (t) => {
  const errors = collect(ERROR);
  const log = new ErrorLog([errors]);
  t.equal(log.debug.level, DEBUG);
  log.debug.log(DEBUG, 'detail', subject(2));
  log.log(DEBUG, 'not this', subject(2));
  t.equal(errors.lines.length, 1);
  t.match(errors.lines[0], '[debug]');
});

t.test('lines reach the file in order, grave ones at once', async (t) => {
  const path = `${t.testdir({})}/error.log`;
  const files = new LogFiles();
  const log = new ErrorLog([fileTarget(files, files.open(path), INFO, false)]);
  log.log(INFO, 'first');
  t.equal(readFileSync(path, 'latin1'), '', 'batched until the end of the turn');
  log.log(ALERT, 'second');
  t.match(readFileSync(path, 'latin1'), /first\n.*second\n$/);
  log.log(INFO, 'third');
  await new Promise((resolve) => setImmediate(resolve));
  t.match(readFileSync(path, 'latin1'), /third\n$/);
  files.closeAll();
});
