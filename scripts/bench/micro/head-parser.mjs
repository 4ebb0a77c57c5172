// The cost of parsing one request head, in microseconds of CPU time: node scripts/bench/micro/head-parser.mjs
import { bundleSources } from '../bundle.mjs';
import { measure } from './timing.mjs';

const { HEAD_DONE, HeadParser } = await import(await bundleSources('head-parser', "export * from './worker/http/syntax/head-parser.js';"));

const browser = [
  'GET /assets/css/main.css?v=12345 HTTP/1.1',
  'Host: www.example.com',
  'Connection: keep-alive',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  'Accept: text/css,*/*;q=0.1',
  'Sec-Fetch-Site: same-origin',
  'Referer: https://www.example.com/index.html',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: en-US,en;q=0.9',
  'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark',
];
const heads = {
  'browser, 10 headers': browser,
  'the same, names in lower case': browser.map((line, i) => (i === 0 ? line : line.replace(/^[^:]+/, (name) => name.toLowerCase()))),
  'load generator, 2 headers': ['GET / HTTP/1.1', 'Host: 127.0.0.1:8080', 'Connection: keep-alive'],
};
const limits = {
  headerBufferSize: 1024,
  largeBufferCount: 4,
  largeBufferSize: 8192,
  maxHeaders: 1000,
  ignoreInvalidHeaders: true,
  underscoresInHeaders: false,
  mergeSlashes: true,
  allowConnect: false,
};

for (const [name, lines] of Object.entries(heads)) {
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const parser = new HeadParser(limits, { selectServer: () => 0, ignoredHeader: () => {} });
  measure(`${name}, ${head.length} bytes`, 500_000, () => {
    parser.reset(limits);
    if (parser.parse(head, 0, head.length) !== HEAD_DONE) {
      throw new Error(parser.head.error);
    }
  });
}
