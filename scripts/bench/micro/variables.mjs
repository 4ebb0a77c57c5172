// Variables as a request has them, and something to ask them of, for benchmarks of what is made of variables.

const ofRequest = {
  scheme: 'https',
  host: 'www.example.com',
  uri: '/assets/css/main.css',
  args: 'v=12345&theme=dark',
  remote_addr: '192.0.2.17',
  remote_user: undefined,
  request: 'GET /assets/css/main.css?v=12345 HTTP/1.1',
  status: '200',
  body_bytes_sent: '1024',
  request_time: '0.001',
  time_local: '20/Nov/2026:09:58:27 +0100',
  time_iso8601: '2026-11-20T09:58:27+01:00',
  http_referer: 'https://www.example.com/index.html',
  http_user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  quoted: 'a "quoted" name',
};
const anew = new Set(['uri', 'args', 'request', 'status', 'body_bytes_sent', 'request_time']);

/** Their definitions. */
export const variables = Object.keys(ofRequest).map((name) => ({ name, cacheable: !anew.has(name), get: (r) => r.values[name] }));

/** Stands for a request that has a value in each of so many slots. */
export function subject(slots) {
  return { vars: new Array(slots).fill(undefined), captures: ['/blog/a-page', 'a-page'], evaluating: 0, values: ofRequest };
}
