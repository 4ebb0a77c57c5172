import { chmodSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { alive } from '../stage.mjs';

const preload = new URL('../faulty-calls.cjs', import.meta.url).pathname;
const { kinds } = createRequire(import.meta.url)(preload);
const sockets = '/tmp/sluice-faulty-calls';

const http = `
  proxy_cache_path %%DIR%%/cache keys_zone=cache:1m;
  limit_req_zone $binary_remote_addr zone=rate:1m rate=1000000r/s;
  log_format short '$request $status';
  access_log %%DIR%%/access.log short;
  client_body_buffer_size 8k;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    limit_req zone=rate burst=100000 nodelay;
    location /cached/ { proxy_pass http://%%ORIGIN%%; proxy_cache cache; proxy_cache_valid 200 1h; }
    location /large { proxy_pass http://%%ORIGIN%%; proxy_buffers 4 4k; proxy_max_temp_file_size 10m; }
    location /upload { proxy_pass http://%%ORIGIN%%; }
    location /page { gzip on; gzip_min_length 1; gzip_types text/plain; try_files /none /small; }
    location /list/ { alias %%DIR%%/html/; autoindex on; }
    location / { error_page 404 = @missing; }
    location @missing { return 404 missing; }
  }`;

/** Every file and socket call made to fail in turn, the n-th of each kind: the request may fail, the process may not. */
export default {
  id: 'F18',
  what: 'every fs and socket call fails in turn, with an error of the system and with a mistake: no process ends',
  nginx: false,
  alerts: true,
  inCi: false,
  env: { NODE_OPTIONS: `--require ${preload}`, FAULTS: sockets },
  async run(stage, expect) {
    mkdirSync(sockets, { recursive: true });
    chmodSync(sockets, 0o777);
    await stage.start(http);
    let serial = 0;
    const requests = () => {
      serial++;
      return [
        stage.get('/small'),
        stage.get(`/cached/${serial}`),
        stage.get(`/cached/${serial}`),
        stage.get('/large?bytes=300000'),
        stage.get('/page', { headers: 'Accept-Encoding: gzip\r\n' }),
        stage.get('/list/'),
        stage.get('/missing'),
        stage.raw(`POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n${'u'.repeat(100_000)}`),
      ];
    };
    const orderOnce = (pid, what) =>
      new Promise((resolve) => {
        let text = '';
        const socket = connect(`${sockets}/${pid}.sock`);
        socket.on('data', (bytes) => (text += bytes)).on('error', () => resolve(undefined));
        socket.on('close', () => resolve(text === '' ? undefined : JSON.parse(text)));
        socket.write(JSON.stringify(what));
      });
    // The call that fails may be one of the order's own.
    const order = async (pid, what) => (await orderOnce(pid, what)) ?? (alive(pid) ? orderOnce(pid, what) : undefined);
    let faults = 0;
    let deaths = 0;
    let unanswered = 0;
    const most = stage.short ? 2 : 12;
    for (const code of stage.short ? ['EIO', ''] : ['EIO', 'EMFILE', 'ENOSPC', '']) {
      for (const kind of kinds) {
        for (let nth = 1; nth <= most; nth++) {
          const workers = await stage.until(() => stage.workers().length === 2 && stage.workers(), 'two workers');
          for (const pid of workers) {
            await order(pid, { kind, nth, code });
          }
          const answers = await Promise.all(requests());
          let hit = 0;
          for (const pid of workers) {
            const count = await order(pid, { kind: '', nth: 0, code: '' });
            hit += count?.failed ?? 0;
            if (count === undefined) {
              deaths++;
            }
            expect(
              count !== undefined,
              `a worker ended when ${kind} failed the ${nth}. time with ${code || 'TypeError'}: ${/^.*(?:uncaught|alert).*$/m.exec(stage.log().split('\n').slice(-8).join('\n'))?.[0]}`,
            );
          }
          faults += hit;
          unanswered += answers.filter((answer) => answer === undefined).length;
          const after = await stage.get('/small');
          expect(/ 200 OK/.test(after), `no answer after ${kind} failed the ${nth}. time with ${code || 'TypeError'}`);
          if (hit === 0) {
            break;
          }
        }
      }
    }
    expect(faults > 20, `only ${faults} calls were made to fail`);
    return { faults, deaths, unanswered, failed: 0 };
  },
};
