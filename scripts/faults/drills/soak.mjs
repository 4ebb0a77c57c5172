import { clients, usual } from '../stage.mjs';

/** Master, workers, and the cache's manager and loader. */
const RUNNING = 5;

const http = `
  proxy_cache_path %%DIR%%/cache keys_zone=cache:2m;
  limit_req_zone $arg_k zone=rate:1m rate=1000000r/s;
  ${usual}
  server {
    listen 127.0.0.1:%%PORT_2%%;
    location /cached/ { proxy_pass http://origin; proxy_cache cache; proxy_cache_valid 200 1s; }
    location /limited { limit_req zone=rate burst=1000 nodelay; return 200 limited; }
    location /zipped { gzip on; gzip_types text/plain; gzip_min_length 1; try_files /small =404; }
    location / { }
  }`;

/** Mixed requests for a long time, then reloads: memory and descriptors stay where they were. */
export default {
  id: 'F16',
  what: 'mixed requests for long: memory from a tenth to the end grows at most 15 %, descriptors not at all; then reloads',
  async run(stage, expect) {
    const total = stage.short ? 5000 : 1_000_000;
    await stage.start(http);
    const on = (path, body, over) => ({
      ...clients.keepAlive(stage, 2),
      port: stage.port(2),
      request: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n`,
      body,
      ...over,
    });
    const load = stage.load(
      clients.keepAlive(stage, 4),
      clients.close(stage, 2),
      clients.proxied(stage, 4),
      clients.tls(stage, 2),
      on('/cached/a', 'body of /cached/a'),
      on('/limited?k=a', 'limited'),
      on('/zipped', undefined),
      on('/nothing', undefined, { status: 404 }),
    );
    await load.answered(total / 10);
    const before = { memory: stage.memory(), descriptors: stage.descriptors() };
    await load.answered(total);
    const after = { memory: stage.memory(), descriptors: stage.descriptors() };
    for (let i = 0; i < (stage.short ? 2 : 20); i++) {
      await stage.reload();
    }
    // New workers have to do what the old ones did before they can be compared with them.
    await load.answered(total * 1.1);
    const end = await load.stop();
    await stage.until(() => stage.processes().length <= RUNNING, 'the end of the old workers');
    const reloaded = { memory: stage.memory(), descriptors: stage.descriptors() };
    const growth = Math.round((after.memory / before.memory - 1) * 1000) / 10;
    expect(end.failed === 0, `${end.failed} requests failed: ${JSON.stringify(end.why)}`);
    expect(stage.short || growth <= 15, `memory grew by ${growth} %`);
    expect(after.descriptors <= before.descriptors + 20, `descriptors went from ${before.descriptors} to ${after.descriptors}`);
    expect(
      stage.short || reloaded.memory <= before.memory * 1.1,
      `memory went from ${before.memory} to ${reloaded.memory} MB after reloads`,
    );
    return {
      answered: end.answered,
      failed: end.failed,
      memoryBefore: Math.round(before.memory),
      memoryAfter: Math.round(after.memory),
      growth,
      memoryReloaded: Math.round(reloaded.memory),
      descriptors: [before.descriptors, after.descriptors, reloaded.descriptors],
    };
  },
};
