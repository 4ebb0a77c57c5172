import t from 'tap';
import { complete, headerOf, parseCurl, parseLogLine, parseWords, shellWords } from '../../../src/tools/explain/explain-request.js';
import { formatReader, jsonReader } from '../../../src/tools/logs/log-line.js';

const USUAL = { port: 8080, tls: false, host: 'www.example.com:8080' };

t.test('words of a shell', async (t) => {
  t.strictSame(shellWords(`-X PUT "a b" 'it'\\''s' \\\n  -H $'x' c\\ d "q\\"q" ''`), [
    '-X',
    'PUT',
    'a b',
    "it's",
    '-H',
    'x',
    'c d',
    'q"q',
    '',
  ]);
  t.throws(() => shellWords("'open"), { message: "a ' is not closed" });
});

t.test("curl's options", async (t) => {
  const parse = (text: string) => parseCurl(shellWords(text));
  t.match(parse('https://a/x'), {
    method: 'GET',
    url: 'https://a/x',
    headers: [
      ['User-Agent', /^curl/],
      ['Accept', '*/*'],
    ],
  });
  t.match(parse('-sSLk --max-time 3 -o /dev/null -I a/x'), { method: 'HEAD', url: 'a/x' });
  t.match(parse("-XDELETE -H 'A: b' -H 'Gone:' -H 'Empty;' a"), {
    method: 'DELETE',
    headers: [
      ['A', 'b'],
      ['Empty', ''],
    ],
  });
  t.match(parse('-d a=b --data-raw c --data-urlencode "d=e f" x'), {
    method: 'POST',
    body: 'a=b&c&d=e%20f',
    headers: [['Content-Type', 'application/x-www-form-urlencoded']],
  });
  t.match(parse('-G -d a=b http://h/p?q'), { method: 'GET', url: 'http://h/p?q&a=b' });
  t.match(parse(`--json '{"a":1}' h`), {
    method: 'POST',
    headers: [
      ['Content-Type', 'application/json'],
      ['Accept', 'application/json'],
    ],
  });
  t.match(parse('-u me:secret -A agent -e from -b c=d --compressed --request=PATCH --http1.0 h'), {
    method: 'PATCH',
    version: '1.0',
    headers: [
      ['Authorization', 'Basic bWU6c2VjcmV0'],
      ['User-Agent', 'agent'],
      ['Referer', 'from'],
      ['Cookie', 'c=d'],
      ['Accept-Encoding', /gzip/],
    ],
  });
  t.throws(() => parse('h -H'), { message: "curl's -H lacks its value" });
  t.throws(() => headerOf('no colon'), { message: /lacks a colon/ });
});

t.test('URLs, paths and request lines', async (t) => {
  const made = (...words: string[]) => complete(parseWords(words), USUAL);
  t.match(made('/x?y'), {
    request: { method: 'GET', target: '/x?y', headers: [['Host', 'www.example.com:8080']] },
    options: { port: 8080, tls: false },
  });
  t.match(made('https://a.example/b#c'), {
    request: { target: '/b', headers: [['Host', 'a.example']] },
    options: { host: 'a.example', port: 443, tls: true },
  });
  t.match(made('a.example:81'), { request: { target: '/' }, options: { host: 'a.example', port: 81 } });
  t.match(made('http://[::1]:8080/'), { request: { headers: [['Host', '[::1]:8080']] }, options: { host: '::1', port: 8080 } });
  t.match(made('PUT', '/x'), { request: { method: 'PUT' } });
  t.match(made('GET /x HTTP/1.0'), { request: { target: '/x', version: '1.0' } });
  t.throws(() => made('a', 'b', 'c'), { message: /neither a URL/ });
  t.throws(() => made('http://a:b/'), { message: '"a:b" is no host' });
});

t.test('lines of access logs', async (t) => {
  const combined = formatReader([
    ...[
      { variable: 'remote_addr' },
      { text: ' - ' },
      { variable: 'remote_user' },
      { text: ' [' },
      { variable: 'time_local' },
      { text: '] "' },
    ],
    ...[{ variable: 'request' }, { text: '" ' }, { variable: 'status' }, { text: ' "' }, { variable: 'http_user_agent' }, { text: '"' }],
  ]);
  t.match(parseLogLine('10.0.0.1 - - [x] "POST /a\\x22?b HTTP/1.1" 200 "agent"', [combined]), {
    method: 'POST',
    url: '/a"?b',
    address: '10.0.0.1',
    headers: [['User-Agent', 'agent']],
  });
  const json = '{"client":"10.0.0.2","method":"GET","uri":"/x","scheme":"https","host":"h.example"}';
  t.match(parseLogLine(json, [combined, jsonReader]), {
    url: 'https://h.example/x',
    address: '10.0.0.2',
    headers: [['Host', 'h.example']],
  });
  t.throws(() => parseLogLine('nonsense', [combined, jsonReader]), { message: /form of no log/ });
});
