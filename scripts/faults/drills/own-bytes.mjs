import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { usual } from '../stage.mjs';

/** Files of all lengths, none like another. */
const contents = Array.from({ length: 40 }, (_, i) => `file ${i}: ${String.fromCharCode(65 + (i % 26)).repeat(Math.round(1.35 ** i))}`);

/** Whatever happens meanwhile, everybody gets what he asked for and nothing else: every byte is compared. */
export default {
  id: 'F46',
  what: 'a million pipelined requests, each for something of its own, under resets, reloads and kill -9: no wrong byte',
  alerts: true,
  async run(stage, expect) {
    const [requests, connections, churn, kills] = stage.short ? [20_000, 16, 1000, 1] : [1_000_000, 64, 100_000, 10];
    mkdirSync(`${stage.dir}/html/files`);
    for (const [i, text] of contents.entries()) {
      writeFileSync(`${stage.dir}/html/files/${i}`, text);
    }
    await stage.start(
      `proxy_next_upstream_tries 1;
      ${usual.replace('location /proxy/', `location /r/ { return 200 $uri; } location /much/ { return 200 "${'$uri'.repeat(500)}"; } location /proxy/`)}`,
    );
    const asking = await stage.helper('own-bytes.mjs');
    await asking.ask({ port: stage.port(0), connections, requests, files: contents });
    const crowd = stage.crowd({ count: churn, reset: true, request: 'GET /r/of-somebody-who-leaves HTTP/1.1\r\nHost: localhost\r\n\r\n' });
    for (let i = 1; i <= kills; i++) {
      const until = (requests / (2 * kills + 1)) * (2 * i - 1);
      await stage.until(async () => (await asking.ask('report')).answered >= until, 'answers', 240_000);
      process.kill(stage.workers()[0], 'SIGKILL');
      await stage.until(() => stage.workers().length === stage.workerCount, 'another worker');
      await stage.until(async () => (await asking.ask('report')).answered >= until + requests / (2 * kills + 1) / 2, 'answers', 240_000);
      await stage.reload();
    }
    await stage.until(async () => (await asking.ask('report')).running === 0, 'all answers', 240_000);
    const { open: reset } = await crowd.done;
    crowd.end();
    const { answered, wrong, cut, resets, bytes, why } = await asking.ask('end');
    await sleep(100);
    expect(wrong === 0, `${wrong} answers were somebody else's: ${why.slice(0, 5).join('; ')}`);
    // A killed worker takes what was asked of it along, and of a reload nobody hears.
    const most = kills * connections * 8;
    expect(cut <= most, `${cut} requests without an answer, ${most} can be`);
    return { answered, failed: wrong, cut, most, kills, reloads: kills, resets: resets + reset, megabytes: Math.round(bytes / 1e6) };
  },
};
