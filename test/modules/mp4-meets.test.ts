// Parts of films with what they meet: protocols, compression, clients that leave.
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { atom, type FilmParts, fileType, filmFile } from '../support/film.js';
import { Http2Client, request } from '../support/http2-client.js';
import { get, Http3Scene, responseOf, until } from '../support/http3-scene.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const SECURE = `listen 127.0.0.1:%%PORT_1%% ssl; http2 on; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};`;

/** A film of one track, with a picture in each second and each chunk. */
function filmOf(pictures: number, size: number): FilmParts {
  const bytes = Buffer.from(Array.from({ length: 251 }, (_, i) => i));
  return {
    timescale: 1,
    duration: pictures,
    samples: Buffer.alloc(pictures * size, bytes),
    tracks: [
      {
        timescale: 1,
        duration: pictures,
        filmDuration: pictures,
        times: [[pictures, 1]],
        chunks: [[1, 1, 1]],
        sizes: Array.from({ length: pictures }, () => size),
        places: Array.from({ length: pictures }, (_, i) => i * size),
      },
    ],
  };
}

/** What is left of it from one picture to another. */
function cut(pictures: number, size: number, from: number, to: number): Buffer {
  const film = filmOf(to - from, size);
  return filmFile({ ...film, samples: filmOf(pictures, size).samples.subarray(from * size, to * size) });
}

const SMALL = filmFile(filmOf(10, 1000));
const LARGE = filmFile(filmOf(1000, 30_011));
const smallPart = cut(10, 1000, 2, 7);
const largePart = cut(1000, 30_011, 3, 500);
const files = { 'html/small.mp4': SMALL, 'html/large.mp4': LARGE };

t.test('TLS and HTTP/2', async (t) => {
  const s = await startServer(t, { conf: serverConf(`${SECURE} location / { mp4; }`), files });
  const client = await Http2Client.connect(t, s.port(1), { tls: true });
  client.request(1, request('GET', '/small.mp4?start=2&end=7'));
  const { status, fields, body } = await client.response(1);
  t.equal(status, '200');
  t.equal(fields.get('content-length'), String(smallPart.length));
  t.equal(body, smallPart.toString('latin1'));
  client.request(3, request('GET', '/small.mp4?start=2&end=7', ['range', 'bytes=100-2999']));
  t.equal((await client.response(3)).body, smallPart.toString('latin1', 100, 3000));
  client.request(5, request('HEAD', '/small.mp4?start=2&end=7'));
  t.equal((await client.response(5)).fields.get('content-length'), String(smallPart.length));
  const large = await httpGet(s.port(1), '/large.mp4?start=3&end=500', {}, { tls: {} });
  t.ok(large.body.equals(largePart));
});

t.test('HTTP/3', { skip: againstNginx ? 'in this process' : false }, async (t) => {
  const scene = await Http3Scene.of(
    t,
    `server { listen 127.0.0.1:8443 quic; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};
       root DIR/html; location / { mp4; } }`,
  );
  writeFileSync(`${scene.dir}/html/small.mp4`, SMALL);
  const stream = scene.client().open(0);
  stream.send(get('/small.mp4?start=2&end=7'), true);
  await until(() => stream.ended);
  t.equal(responseOf(stream).body, smallPart.toString('latin1'));
});

t.test('compression, of each part by itself', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('default_type video/mp4; gzip on; gzip_types video/mp4; location / { mp4; }'),
    files,
  });
  const parts = [
    ['', SMALL],
    ['?start=2&end=7', smallPart],
    ['?start=5', cut(10, 1000, 5, 10)],
    ['?start=2&end=7', smallPart],
    ['', SMALL],
  ] as const;
  for (const [args, expected] of parts) {
    const response = await httpGet(s, `/small.mp4${args}`, { 'Accept-Encoding': 'gzip' });
    t.equal(response.header('content-encoding'), 'gzip');
    t.match(response.header('etag'), /^W\//);
    t.ok(gunzipSync(response.body).equals(expected), args);
  }
});

t.test('a subrequest of JavaScript', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'subrequest_output_buffer_size 1m; location / { mp4; } location /script { js_content main.part; }',
      'js_path %%DIR%%; js_import main from main.js;',
    ),
    files: {
      ...files,
      'main.js': `async function part(r) {
        const answer = await r.subrequest('/small.mp4', 'start=2&end=7');
        r.return(answer.status, answer.responseBuffer);
      }
      export default { part };`,
    },
  });
  t.ok((await httpGet(s, '/script')).body.equals(smallPart));
});

t.test('files that would cost much', { skip: againstNginx && 'it takes gigabytes' }, async (t) => {
  const some = Buffer.alloc(8_000_000);
  const tracks = Buffer.alloc(some.length, atom('trak'));
  const s = await startServer(t, {
    conf: serverConf('location / { mp4; }'),
    files: {
      'html/tracks.mp4': Buffer.concat([fileType(), atom('moov', tracks), atom('mdat', some)]),
      'html/atoms.mp4': Buffer.concat([fileType(), Buffer.alloc(some.length, atom('free')), SMALL.subarray(fileType().length)]),
    },
  });
  t.equal((await httpGet(s, '/tracks.mp4?start=1')).status, 500);
  t.match(await s.logged('too many'), /\[error\] .*"\S+\/tracks\.mp4" mp4 file has too many tracks/);
  t.equal((await httpGet(s, '/atoms.mp4?start=1')).status, 500);
  t.match(await s.logged('atoms.mp4'), /\[error\] .*"\S+\/atoms\.mp4" mp4 file has too many atoms/);
});

t.test('a film that is asked for again, with open_file_cache', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('open_file_cache max=10; open_file_cache_valid 1h; location / { mp4; } location /no/ { mp4; alias %%DIR%%/html/; }'),
    files,
  });
  for (let i = 0; i < 3; i++) {
    t.ok((await httpGet(s, '/small.mp4?start=2&end=7')).body.equals(smallPart));
    t.ok((await httpGet(s, '/no/large.mp4?start=3&end=500')).body.equals(largePart));
  }
});

t.test('a client that reads slowly, and a limit', async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { mp4; limit_rate 30m; limit_rate_after 1m; }'), files });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/large.mp4?start=3&end=500'));
  await client.until('\r\n\r\n');
  client.pause();
  t.ok((await httpGet(s, '/small.mp4?start=2&end=7')).body.equals(smallPart), 'others are served meanwhile');
  client.resume();
  t.ok((await client.response()).body.equals(largePart));
  client.destroy();
});

/** How many descriptors of a film the server's processes have. */
function descriptors(s: Server): number {
  let count = 0;
  for (const pid of [s.pid, ...s.workers()]) {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      try {
        count += readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('/large.mp4') ? 1 : 0;
      } catch {
        // It was closed meanwhile.
      }
    }
  }
  return count;
}

t.test('descriptors are closed', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { mp4; } location /small/ { mp4; mp4_buffer_size 100; mp4_max_buffer_size 1k; alias %%DIR%%/html/; }'),
    files,
  });
  const path = '/large.mp4?start=3&end=500';
  const client = await RawClient.connect(s);
  client.send(requestText('GET', path));
  await client.until('\r\n\r\n');
  client.pause();
  t.equal(descriptors(s), 1);
  client.destroy();
  await waitFor(() => descriptors(s) === 0, { what: () => 'the end of the response' });
  t.equal((await httpGet(s, path, { Range: 'bytes=0-9' })).status, 206, 'a range of what is in memory');
  t.equal((await httpGet(s, path, { Range: 'bytes=999999999-' })).status, 416);
  t.equal((await httpGet(s, `/small${path}`)).status, 500);
  t.equal((await httpGet(s, '/large.mp4?start=2000')).status, 500);
  t.equal((await httpGet(s, '/large.mp4?start=0')).body.length, LARGE.length);
  await waitFor(() => descriptors(s) === 0, { what: () => 'no descriptor' });
});
