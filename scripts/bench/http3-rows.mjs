// The rows of HTTP/3. nginx has OpenSSL's own calls for QUIC from 3.5 on; with an older one it goes a longer way in handshakes.

/** `certificate`: the directives that name it. */
export const http3Rows = (certificate) =>
  [
    { name: 'h3-one', what: 'return 200 over HTTP/3, one request at a time', goal: 1.3, http3: { connections: 1, streams: 1 } },
    { name: 'h3-8', what: 'the same, 8 requests at a time on one connection', goal: 1.2, http3: { connections: 1, streams: 8 } },
    { name: 'h3-128', what: 'the same, 128 requests at a time', goal: 0.6, http3: { connections: 1, streams: 128 } },
    {
      name: 'h3-20m',
      what: 'file of 20 MB over HTTP/3 (CPU per MB)',
      goal: 1.3,
      http3: { connections: 1, streams: 1 },
      perMegabyte: true,
      paths: ['/20m.bin'],
      server: 'location / { }',
    },
    {
      name: 'h3-connect',
      what: 'a connection of HTTP/3 with a full handshake and one request, 8 at a time',
      goal: 2,
      http3: { connections: 8, streams: 1, each: true },
    },
    {
      name: 'h3-idle',
      what: 'memory of an idle connection of HTTP/3, of 2,000, at rest (KB, in place of CPU)',
      goal: 0.15,
      http3: { connections: 1, streams: 8, idle: 2000 },
    },
  ].map((row) => ({ server: 'location / { return 200 ok; }', paths: ['/'], tls: 'ecdsa', ...row, http: certificate }));
