import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, read } from '../../bench/measure.mjs';
import { clients } from '../stage.mjs';

const LONG = '30d';
/** Seconds: more than 24.8 days. */
const TTL = 3_000_000;

const main = `worker_shutdown_timeout ${LONG};`;
const http = (dns) => `
  access_log off;
  keepalive_timeout ${LONG}; keepalive_time ${LONG};
  client_header_timeout ${LONG}; client_body_timeout ${LONG}; send_timeout ${LONG};
  lingering_time ${LONG}; lingering_timeout ${LONG};
  proxy_connect_timeout ${LONG}; proxy_send_timeout ${LONG}; proxy_read_timeout ${LONG};
  open_file_cache max=100 inactive=${LONG}; open_file_cache_valid ${LONG};
  resolver 127.0.0.1:${dns} ipv6=off;
  resolver_timeout ${LONG};
  upstream origin { zone origin 64k; server backend.test:%%ORIGIN_PORT%% resolve; keepalive 32; keepalive_timeout ${LONG}; }
  upstream valid { zone valid 64k; resolver 127.0.0.1:${dns} valid=${LONG} ipv6=off; server valid.test:%%ORIGIN_PORT%% resolve; }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location /proxy/ { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }
    location /silent { set $name silent.test; proxy_pass http://$name; }
    location /denied { auth_basic x; auth_basic_user_file %%DIR%%/users; auth_delay ${LONG}; }
    location /valid { proxy_pass http://valid; }
    location /logged { access_log %%DIR%%/access.log combined buffer=64k flush=${LONG}; try_files /small =404; }
    location /large { limit_rate 1m; }
  }`;

/** A name server whose answers hold for 35 days; it is silent about one name. */
async function nameServer() {
  const socket = createSocket('udp4');
  let questions = 0;
  socket.on('message', (query, { port, address }) => {
    questions++;
    if (query.includes('silent')) {
      return;
    }
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    record.writeUInt32BE(TTL, 6);
    socket.send(
      Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]), query.subarray(12), record]),
      port,
      address,
    );
  });
  await new Promise((done) => socket.bind(0, '127.0.0.1', () => done(undefined)));
  return {
    port: /** @type {import('node:net').AddressInfo} */ (socket.address()).port,
    questions: () => questions,
    close: () => socket.close(),
  };
}

/** Every time is longer than Node's own timers can wait: nothing comes early, nothing spins. */
export default {
  id: 'F35',
  what: 'a configuration full of times over 24.8 days: nothing fires early, nothing spins, downloads outlive a reload',
  async run(stage, expect) {
    const dns = await nameServer();
    try {
      writeFileSync(`${stage.dir}/users`, 'a:{PLAIN}b\n');
      await stage.start(http(dns.port).replaceAll('%%ORIGIN_PORT%%', String(stage.originPort)), main);
      await stage.until(async () => (await stage.get('/proxy/a'))?.includes('200 OK'), 'the backend');
      const waiting = ['/denied', '/silent'].map((path) => stage.get(path, { patience: stage.short ? 3000 : 20_000 }));
      const load = stage.load(clients.keepAlive(stage, 4), clients.proxied(stage, 4), clients.download(stage, 4));
      await load.answered(stage.short ? 500 : 10_000);
      const asked = dns.questions();
      await stage.reload();
      await load.answered(stage.short ? 1000 : 20_000);
      const { answered, failed, why } = await load.stop();
      await stage.get('/logged');
      const used = () => stage.workers().reduce((sum, pid) => sum + cpuOf(pid), 0);
      const before = used();
      await sleep(2000);
      // Microseconds of two seconds.
      const idle = Math.round((used() - before) / 20_000);
      const early = (await Promise.all(waiting)).filter((answer) => answer !== undefined).length;
      const flushed = read(`${stage.dir}/access.log`).length;
      const questions = dns.questions();
      expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
      expect(early === 0, `${early} requests were answered that had to wait for a month`);
      expect(flushed === 0, 'a log was written that had to wait for a month');
      expect(asked <= 10 && questions <= 20, `${questions} questions to the name server`);
      expect(idle < 20, `without requests ${idle} % of a processor`);
      return { answered, failed, early, questions, idle, flushed };
    } finally {
      dns.close();
    }
  },
};
