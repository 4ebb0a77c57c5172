import { writeFileSync } from 'node:fs';
import { clients, usual } from '../stage.mjs';

const script = `
const kept = [];
export default {
  throws() { throw new Error('on purpose'); },
  rejects: async () => { await null; throw new Error('on purpose'); },
  late: async () => { await new Promise((done) => setTimeout(done, 50)); return new Response('late'); },
  never: () => new Promise(() => {}),
  twice(req, res) { res.end('first'); res.end('second'); },
  leaks() { for (;;) { kept.push(new Array(10000).fill(Math.random())); } },
  loops() { for (;;) {} },
};
`;
const isolated = 'js_isolation thread threads=1 memory=32m;';
const conf = usual.replace(
  'location /upload',
  `js_import bad from bad.mjs;
   location /js/throws { js_content bad.throws fetch; }
   location /js/rejects { js_content bad.rejects fetch; }
   location /js/late { js_content bad.late fetch; }
   location /js/never { js_timeout 100ms; js_content bad.never fetch; }
   location /js/twice { node_handler bad.twice; }
   location /js/leaks { ${isolated} js_content bad.leaks fetch; }
   location /js/spins { ${isolated} js_content bad.loops fetch; }
   location /js/loops { js_content bad.loops fetch; }
   location /upload`,
);
/** Beside other jobs, a thread that leaks or spins ends after more than 5 s. */
const PATIENCE = 30_000;
const answers = { throws: 500, rejects: 500, late: 200, never: 500, twice: 200, leaks: 500, spins: 500 };

/**
 * Handlers that do all that is bad, while others are served: it costs their own requests, and a loop in a worker what is in flight in it.
 */
export default {
  id: 'F44',
  what: 'handlers in JavaScript that throw, leak, loop, never answer or answer twice: others are served',
  alerts: true,
  nginx: false,
  async run(stage, expect) {
    const rounds = stage.short ? 2 : 50;
    const loops = stage.short ? 1 : 10;
    writeFileSync(`${stage.dir}/bad.mjs`, script);
    await stage.start(`js_block_timeout 1s;${conf}`);
    const at = [clients.keepAlive(stage, 8), clients.close(stage, 2), clients.proxied(stage, 4)];
    const load = stage.load(...at);
    await load.answered(100);
    for (let i = 0; i < rounds; i++) {
      const got = await Promise.all(Object.keys(answers).map((name) => stage.get(`/js/${name}`, { patience: PATIENCE })));
      for (const [j, [name, status]] of Object.entries(answers).entries()) {
        expect(got[j]?.startsWith(`HTTP/1.1 ${status} `), `${name}: ${got[j]?.split('\r\n')[0]}`);
      }
    }
    const { failed: harmed, answered: before } = await load.report();
    expect(harmed === 0, `${harmed} requests of others failed`);
    for (let i = 0; i < loops; i++) {
      const old = stage.workers();
      await stage.get('/js/loops');
      await stage.until(() => {
        const now = stage.workers();
        return now.length === 2 && now.some((pid) => !old.includes(pid));
      }, 'the replacement');
      await load.answered((await load.report()).answered + 200);
    }
    const { answered, failed, why, gap } = await load.stop();
    const most = loops * at.reduce((sum, { count }) => sum + count, 0);
    expect(failed <= most, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { rounds, answered: before, harmed, loops, answeredInAll: answered, failed, most, gap: Math.round(gap) };
  },
};
