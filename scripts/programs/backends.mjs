// The backends of a program, in a namespace of their own: HTTP on the ports that the row names, and on some that programs like. They answer
// what the row says for a path, else with what they were asked.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';

const { ports = [], answers = {} } = JSON.parse(process.argv[2] ?? '{}');
process.stdout.write('started\n');
await once(process.stdin, 'data');
execFileSync('sh', ['-ec', 'ip link set lo up; ip addr add 10.9.0.2/16 dev v1; ip -6 addr add fd09::2/64 dev v1 nodad; ip link set v1 up']);
for (const port of new Set([80, 8080, 3000, ...ports])) {
  const server = createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('latin1');
      const path = (request.url ?? '').split('?')[0];
      const given = answers[`${port}${path}`] ?? answers[path] ?? answers[`${port}`];
      const headers = Object.entries(request.headers)
        .filter(([name]) => name !== 'connection')
        .sort(([a], [b]) => (a < b ? -1 : 1));
      response.statusCode = given?.status ?? 200;
      response.setHeader('content-type', given?.type ?? 'application/json');
      for (const [name, value] of Object.entries(given?.headers ?? {})) {
        response.setHeader(name, value);
      }
      response.end(given?.body ?? JSON.stringify({ port, method: request.method, url: request.url, headers, body }));
    });
  });
  server.listen(port, '10.9.0.2');
  await once(server, 'listening');
}
process.stdout.write('ready\n');
