import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { againstNginx } from './binary.js';

// The table of what njs's objects do: files of small programs, each with the answer of nginx with njs below it.
//
//   # a comment
//   > EXPRESSION                  its value in a content handler, where `r` is the request and `s` nothing
//   http> STATEMENTS              a content handler that answers itself; likewise access>, head>, body>, set>, stream set> and so on;
//                                 passhead> and passbody> filter what a backend answers, nocache> is a variable that a text has twice
//   . more lines of either
//   @ {"method": "POST"}          what the client sends: method, query, headers, body; in stream `"send": ""`
//   + DIRECTIVES                  what stands in the location or server beside the handler
//   ! DIRECTIVES                  ours alone
//   = ANSWER                      nginx's
//   ~ ANSWER                      ours, where it differs on purpose; `throws NAME` alone leaves the error's words to the engine

/** What the client of a row sends. */
export interface RowRequest {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Nothing, in a row that waits for bytes. A row that reads none is sent none: its server may be gone before they leave the client. */
  readonly send?: '';
}

/** One program of the table with its answers. */
export interface Row {
  readonly file: string;
  readonly index: number;
  /** Empty for an expression. */
  readonly mode: string;
  readonly code: string;
  readonly request: RowRequest;
  readonly directives: string;
  readonly answer: string;
  readonly ours: string | undefined;
}

/** One file of the table: its lines, and where in them the rows are. */
export interface TableFile {
  readonly name: string;
  readonly rows: readonly Row[];
}

const folder = new URL('../njs/', import.meta.url);

const START = /^((?:stream )?[a-z]*)> ?(.*)$/s;

/** All rows, by file. `extension`: of the files; `conf` has lines of configurations. */
export function readTable(extension = 'njs'): TableFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(`.${extension}`))
    .sort()
    .map((name) => ({ name: name.slice(0, -extension.length - 1), rows: rowsIn(name.slice(0, -extension.length - 1), extension) }));
}

function rowsIn(file: string, extension: string): Row[] {
  const rows: { -readonly [key in keyof Row]: Row[key] }[] = [];
  for (const line of readFileSync(new URL(`${file}.${extension}`, folder), 'utf8').split('\n')) {
    const start = START.exec(line);
    const row = rows.at(-1);
    const rest = line.slice(2);
    if (start !== null) {
      rows.push({
        file,
        index: rows.length,
        mode: start[1]!,
        code: start[2]!,
        request: {},
        directives: '',
        answer: '',
        ours: undefined,
      });
    } else if (line !== '' && !line.startsWith('#')) {
      if (row === undefined || !/^[.@+!=~] ?/.test(line)) {
        throw new Error(`${file}.${extension}: no line of a table: ${line}`);
      }
      switch (line[0]) {
        case '.':
          row.code += `\n${rest}`;
          break;
        case '@':
          row.request = JSON.parse(rest) as RowRequest;
          break;
        case '+':
          row.directives += ` ${rest}`;
          break;
        case '!':
          row.directives += againstNginx ? '' : ` ${rest}`;
          break;
        case '=':
          row.answer = rest;
          break;
        default:
          row.ours = rest;
      }
    }
  }
  return rows;
}

/** Writes nginx's answers into a file of the table, by the index of the row. */
export function recordAnswers(file: string, answers: readonly string[], extension = 'njs'): void {
  const path = new URL(`${file}.${extension}`, folder);
  const result: string[] = [];
  let index = -1;
  let written = true;
  const write = (): void => {
    if (!written) {
      result.push(`= ${answers[index]}`);
      written = true;
    }
  };
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) {
    if (!/^[.@+!=]/.test(line)) {
      write();
    }
    if (START.test(line)) {
      index++;
      written = false;
    }
    if (!line.startsWith('=')) {
      result.push(line);
    }
  }
  write();
  writeFileSync(path, `${result.join('\n')}\n`);
}

/** Our answer to a row, without words of Node's or V8's if the row does not name them. */
export const withoutWords = (row: Row, answer: string): string =>
  /^throws \w+$/.test(row.ours ?? '') ? answer.replace(/^(throws \w+): .*$/s, '$1') : answer;

/** Shows a value the same in all engines. */
const SHOW = `
function show(v, depth) {
  depth = depth || 0;
  if (typeof v === 'string') { return JSON.stringify(v); }
  if (typeof v === 'symbol') { return 'symbol'; }
  if (typeof v === 'function') { return 'function'; }
  if (v === null || typeof v !== 'object') { return Object.is(v, -0) ? '-0' : String(v); }
  if (depth > 5) { return '...'; }
  if (v instanceof Error) { return 'error ' + v.name + ': ' + v.message; }
  if (Buffer.isBuffer(v)) { return 'Buffer ' + v.toString('hex'); }
  if (v instanceof ArrayBuffer) { return 'ArrayBuffer ' + Buffer.from(v).toString('hex'); }
  if (v instanceof Date) { return 'Date'; }
  if (ArrayBuffer.isView(v)) { return Object.prototype.toString.call(v) + ' ' + Buffer.from(v.buffer, v.byteOffset, v.byteLength).toString('hex'); }
  if (Array.isArray(v)) { return '[' + v.map(function (one) { return show(one, depth + 1); }).join(',') + ']'; }
  var tag = Object.prototype.toString.call(v);
  return (tag === '[object Object]' ? '' : tag) + '{' + Object.keys(v).map(function (k) { return k + ':' + show(v[k], depth + 1); }).join(',') + '}';
}
function thrown(e) { return 'throws ' + (e instanceof Error ? e.name + ': ' + e.message : show(e)); }
function names(v) { return Object.keys(v).sort().join(); }
function tried(f) { try { return show(f()); } catch (e) { return thrown(e); } }
async function later(f) { try { return show(await f()); } catch (e) { return thrown(e); } }
`;

/** What rows about `ngx.fetch` ask of the peer (fetch-peer.ts), and what they say of its answers. Texts have a byte in each character. */
const FETCH = `
var peer = 'http://127.0.0.1:%%PEER%%';
function told(s) {
  return s.text().then(function (body) {
    return [s.status, s.statusText, s.ok, Object.keys(s.headers).map(function (k) { return k + ': ' + s.headers.get(k); }), body];
  });
}
function escaped(text) { return text.split('').map(function (c) { return '%' + ('0' + c.charCodeAt(0).toString(16)).slice(-2); }).join(''); }
function raw(text, init) { return ngx.fetch(peer + '/raw/' + escaped(text), init).then(told); }
function kept(text, init) { return ngx.fetch(peer + '/kept/' + escaped(text), init).then(told); }
function asked(init, url) { return ngx.fetch(url || peer + '/asked', init).then(function (s) { return s.text(); }); }
async function counted(path, times) { var all = []; for (var i = 0; i < times; i++) { all.push(await (await ngx.fetch(peer + path)).text()); } return all; }
function secure(url, init) { return ngx.fetch(url, init).then(told).then(function (a) { return [a[0], a[4]]; }); }
`;

const PARAMETERS: Readonly<Record<string, string>> = {
  '': 'r',
  body: 'r, data, flags',
  head: 'r',
  http: 'r',
  access: 'r',
  set: 'r',
  nocache: 'r',
  passhead: 'r',
  passbody: 'r, data, flags',
};

/** The module of a file's rows. */
export function moduleOf({ rows }: TableFile): string {
  const functions = rows.map(({ index, mode, code }) => {
    const parameters = PARAMETERS[mode] ?? 's';
    if (mode === '') {
      return `async function row${index}(r) {
  var result;
  try { result = show(await (${code})); } catch (e) { result = thrown(e); }
  r.return(200, result);
}`;
    }
    return `${/\bawait\b/.test(code) ? 'async ' : ''}function row${index}(${parameters}) { ${code} }`;
  });
  return `import fs from 'fs';
import querystring from 'querystring';
import cr from 'crypto';
import zlib from 'zlib';
import xml from 'xml';
import buffer from 'buffer';
${SHOW}${FETCH}
${functions.join('\n')}
export default { ${rows.map(({ index }) => `row${index}`).join(', ')} };
`;
}

/** The socket on which a row of stream listens. */
export const socketOf = ({ file, index }: Row): string => `%%DIR%%/s-${file}-${index}`;

/** What the client of a row of stream sends: something where the row listens to it. */
export const sentBy = ({ mode, code, request }: Row): string =>
  request.send ?? (mode === 'stream filter' || (mode !== 'stream set' && code.includes("s.on('up")) ? 'hi\n' : '');

/** The location of a row of http. */
export function locationOf({ file, index, mode, directives }: Row): string {
  const name = `${file}.row${index}`;
  const within: Readonly<Record<string, string>> = {
    '': `js_content ${name};`,
    http: `js_content ${name};`,
    access: `js_access ${name}; ${/js_content|return|proxy_pass/.test(directives) ? '' : 'js_content base.passed;'}`,
    head: `js_header_filter ${name}; return 200 "text";`,
    body: `js_body_filter ${name}${directives.includes('buffer_type') ? ' buffer_type=buffer' : ''}; js_header_filter base.lengthless; return 200 "text";`,
    set: `return 200 "[$v_${file}_${index}]";`,
    nocache: `return 200 "[$v_${file}_${index} $v_${file}_${index}]";`,
    passhead: `js_header_filter ${name}; proxy_pass http://127.0.0.1:%%PORT_1%%;`,
    passbody: `js_body_filter ${name}${directives.includes('buffer_type') ? ' buffer_type=buffer' : ''}; js_header_filter base.lengthless; proxy_pass http://127.0.0.1:%%PORT_1%%;`,
  };
  const own = directives.replace('buffer_type;', '');
  return `location = /${file}/${index} { ${within[mode]!} ${own} }`;
}

/** The server of a row of stream. */
export function serverOf(row: Row): string {
  const { file, index, mode, directives } = row;
  const name = `${file}.row${index}`;
  const within: Readonly<Record<string, string>> = {
    'stream set': `return "[$v_${file}_${index}]";`,
    'stream nocache': `return "[$v_${file}_${index} $v_${file}_${index}]";`,
    'stream access': `js_access ${name}; return "passed";`,
    'stream preread': `js_preread ${name}; return "passed";`,
    'stream filter': `js_filter ${name}; proxy_pass 127.0.0.1:%%PORT_9%%;`,
  };
  return `server { listen unix:${socketOf(row)}; set $row ${file}/${index}; ${within[mode]!} ${directives} }`;
}

/** What the configuration says of all rows. `listen`: how the server of rows of http listens. */
export function configurationOf(files: readonly TableFile[], listen = 'listen 127.0.0.1:%%PORT_0%%;'): string {
  const imports = files.map(({ name }) => `js_import ${name} from ${name}.js;`).join(' ');
  const rows = files.flatMap((file) => file.rows);
  const http = rows.filter(({ mode }) => !mode.startsWith('stream'));
  const stream = rows.filter(({ mode }) => mode.startsWith('stream'));
  const sets = (of: readonly Row[], mode: string): string =>
    of
      .filter((row) => row.mode === mode)
      .map(({ file, index }) => `js_set $v_${file}_${index} ${file}.row${index}${mode.endsWith('nocache') ? ' nocache' : ''};`)
      .join('\n');
  const common = `js_path %%DIR%%/js/; ${imports}
js_var $jsv; js_var $jsw start; js_preload_object pre from pre.json; js_preload_object other from other.json;`;
  const zones = (p: string): string => `js_shared_dict_zone zone=${p}s:32k; js_shared_dict_zone zone=${p}n:32k type=number;
js_shared_dict_zone zone=${p}t:32k timeout=100s; js_shared_dict_zone zone=${p}tn:32k type=number timeout=100s; js_shared_dict_zone zone=${p}full:32k;
js_shared_dict_zone zone=${p}evict:32k timeout=100s evict;`;
  return `
events {}
http {
  log_format connections '$connection $request_uri';
  access_log %%DIR%%/connections.log connections;
  client_body_temp_path %%DIR%%/body;
  proxy_temp_path %%DIR%%/proxy;
  subrequest_output_buffer_size 8k;
  ${common} js_import base.js;
  ${zones('h')}
  ${sets(http, 'set')} ${sets(http, 'nocache')}
  map $arg_map $mapped { default none; a mapped-a; }
  server {
    ${listen}
    root %%DIR%%/html;
    set $plain plain;
    location = /echo { js_content base.echo; }
    location = /vars { return 200 "[$jsv][$jsw][$plain][$mapped]"; }
    location = /status { return 404 "gone"; }
    location = /heads { js_content base.heads; }
    location @named { return 200 "named $uri"; }
    location = /where { js_content base.where; }
    location /where/ { js_content base.where; }
    location = /internal { internal; return 200 "internal"; }
    location = /backend { proxy_pass http://127.0.0.1:%%PORT_1%%; }
    ${http.map(locationOf).join('\n    ')}
  }
  server {
    listen 127.0.0.1:%%PORT_1%%;
    location / { js_content base.origin; }
  }
  server {
    listen 127.0.0.1:%%PORT_2%% ssl;
    ssl_certificate %%CERTS%%/rsa.crt;
    ssl_certificate_key %%CERTS%%/rsa.key;
    return 200 "$ssl_protocol [$ssl_server_name]";
  }
}
${
  stream.length === 0
    ? ''
    : `stream {
  log_format connections '$connection /$row';
  access_log %%DIR%%/connections.log connections;
  ${common}
  ${zones('z')}
  ${sets(stream, 'stream set')} ${sets(stream, 'stream nocache')}
  ${stream.map(serverOf).join('\n  ')}
}`
}
`;
}

/** Handlers that rows meet, beside themselves. */
export const BASE = `
function passed(r) { r.return(200, 'passed'); }
function lengthless(r) { r.headersOut['X-One'] = 'a'; delete r.headersOut['Content-Length']; }
function echo(r) { r.return(200, JSON.stringify([r.method, r.uri, r.variables.args, r.requestText, r.internal, typeof r.parent])); }
function heads(r) {
  r.headersOut['X-One'] = 'a'; r.headersOut['X-Two'] = ['b', 'c']; r.headersOut['Set-Cookie'] = ['d', 'e']; r.headersOut['Content-Type'] = 'text/x';
  r.return(201, 'heads');
}
function where(r) { r.return(200, r.uri + ' ' + r.variables.args); }
function origin(r) {
  var status = Number(r.args.status) || 200;
  if (r.args.h) { r.headersOut[r.args.h] = r.args.v.split('|'); }
  r.return(status, r.args.body === undefined ? JSON.stringify([r.method, r.variables.request_uri, r.headersIn.host.replace(/\\d+$/, 'N'), r.rawHeadersIn.filter(function (p) { return !/^(?:host|connection)$/i.test(p[0]); }), r.requestText]) : r.args.body);
}
export default { passed, lengthless, echo, heads, where, origin };
`;

/** Headers of a response that say nothing of njs. */
const ELSEWHERE = /^(?:server|date|connection)$/i;

/** An answer of http in one line. */
export function answerText(mode: string, status: number, fields: readonly (readonly [string, string])[], body: string): string {
  if (mode === '' && status === 200) {
    return body;
  }
  const heads = fields.filter(([name]) => !ELSEWHERE.test(name)).map(([name, value]) => `${name}: ${value}`);
  const page = /<center><h1>([^<]*)<\/h1>/.exec(body)?.[1];
  return `${status} ${heads.filter((head) => page === undefined || !head.startsWith('Content-Length')).join(' | ')} ${JSON.stringify(page === undefined ? body : `page ${page}`)}`;
}

/** A line of a backtrace that names the file of a row and a line. */
const placeIn = (file: string): RegExp => new RegExp(`(?:\\n|\\\\x0A)\\s+at .*\\b${file}\\.js:\\d+`);

/**
 * What scripts logged and what the server said of them, by row. `connections`: the log of connections, whose numbers the lines have.
 * Lines of rows that say `placed` in a comment tell whether a backtrace names the place.
 */
export function logLines(log: string, connections: string, placed: ReadonlySet<string>): Map<string, string[]> {
  const rows = new Map<string, string>();
  for (const [, connection, file, index] of connections.matchAll(/^(\d+) \/([a-z_]+)\/(\d+)\b/gm)) {
    rows.set(connection!, `${file}/${index}`);
  }
  const found = new Map<string, string[]>();
  for (const entry of log.split(/^(?=\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[)/m)) {
    const parts = /^\S+ \S+ \[(\w+)\] \d+#\d+: \*(\d+) (.*)$/s.exec(entry.trimEnd());
    const key = rows.get(parts?.[2] ?? '');
    if (parts === null || key === undefined) {
      continue;
    }
    const [, level, , text] = parts;
    const message = text!
      .replace(/,? (?:while [^,]*, )?client: .*$/s, '')
      .split(/\n|\\x0A/)[0]!
      .replace(/ while [a-z ]+$/, '')
      .trimEnd();
    if (/^js/.test(message) && !/^js fetch/.test(message)) {
      const place = placed.has(key) && placeIn(key.split('/')[0]!).test(text!) ? ' (placed)' : '';
      found.set(key, [...(found.get(key) ?? []), `[${level}] ${message}${place}`]);
    }
  }
  return found;
}
