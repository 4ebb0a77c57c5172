// Further servers to compare, in the rows that they can do: a row's `caddy` and `haproxy` are its part of their configurations, its `node`
// is an application that Node's own server runs.

/** For each: its configuration of a row, the arguments that test it and run it, and the environment in which it works on one core. */
export const others = {
  caddy: {
    configuration: ({ dir, docs, port }, row) => `{
  admin off
  auto_https off
  servers {
    protocols h1
  }
  log {
    output file ${dir}/error.log
  }
}
${row.tls ? `https://localhost:${port}, https://127.0.0.1:${port}` : `:${port}`} {
  bind 127.0.0.1
  root * ${docs}
  ${row.tls ? 'tls %%DIR%%/tls.crt %%DIR%%/tls.key' : ''}
  ${row.caddy}
}
`,
    test: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    env: (dir) => ({ GOMAXPROCS: '1', XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir }),
  },
  haproxy: {
    configuration: ({ port }, row) => `global
  nbthread 1
  maxconn 8192
  tune.bufsize 16384
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend bench
  bind 127.0.0.1:${port}${row.tls ? ' ssl crt %%DIR%%/tls.pem' : ''}
  ${row.haproxy.replaceAll('\n', '\n  ')}
`,
    test: (file) => ['-c', '-f', file],
    run: (file) => ['-db', '-f', file],
    env: () => ({}),
  },
  node: {
    configuration: ({ port }, row) => `const { createRequire } = require('module');
const { serve } = createRequire('%%BENCH%%/')('@hono/node-server');
serve({ fetch: require('%%BENCH%%/${row.node}').fetch, port: ${port}, hostname: '127.0.0.1' });
`,
    test: (file) => ['-e', `require('fs').readFileSync(${JSON.stringify(file)})`],
    run: (file) => [file],
    env: () => ({}),
  },
};
