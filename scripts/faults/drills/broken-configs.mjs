import { writeFileSync } from 'node:fs';
import { clients, usual } from '../stage.mjs';

const broken = [
  'nonsense;',
  'listen 80',
  'server {',
  '}',
  'return 200 "open',
  'proxy_pass;',
  'location / { return 1000; }',
  'if ($x { }',
  'limit_req zone=none;',
  'proxy_pass http://no.such.host.invalid;',
  'ssl_certificate %%DIR%%/none.pem;',
  'include %%DIR%%/none.conf;',
  'rewrite ( /x;',
  'log_format x $none;',
  '\0',
  '"',
  '$',
  '{}',
  'worker_processes 2;',
  'root a b c;',
];

/** The text cut off at a place, a line removed, or a faulty line put in. */
function variants(conf, count) {
  const lines = conf.split('\n');
  const all = [];
  for (let i = 0; i < count; i++) {
    const at = 1 + ((i * 7919) % (lines.length - 2));
    if (i % 4 === 0) {
      all.push(conf.slice(0, Math.floor((conf.length * (i + 1)) / (count + 2))));
    } else {
      all.push([...lines.slice(0, at), broken[i % broken.length], ...lines.slice(at)].join('\n'));
    }
  }
  return all;
}

/** A reload to each of many faulty configurations: the old one serves on, by the same workers. */
export default {
  id: 'F2',
  what: 'reloads to broken configurations: the old one serves on',
  alerts: true,
  async run(stage, expect) {
    await stage.start(usual);
    const load = stage.load(clients.keepAlive(stage, 4), clients.close(stage, 2), clients.proxied(stage, 2));
    await load.answered(100);
    const before = stage.workers();
    const { pid } = stage;
    const texts = variants(stage.conf(usual), stage.short ? 12 : 200);
    let refused = 0;
    let taken = 0;
    for (const text of texts) {
      writeFileSync(`${stage.dir}/server.conf`, stage.fill(text));
      const emergs = count(stage.log(), /\[emerg\]/g);
      const reloads = count(stage.log(), /start worker processes/g);
      stage.signal('HUP');
      await stage.until(() => {
        const log = stage.log();
        if (count(log, /\[emerg\]/g) > emergs) {
          return ++refused;
        }
        // A line put into an empty place may be allowed there.
        if (count(log, /start worker processes/g) > reloads) {
          return ++taken;
        }
        return false;
      }, `a verdict on\n${text}`);
      expect(stage.pid === pid, 'the master is another one');
    }
    const same = taken > 0 || before.every((worker) => stage.workers().includes(worker));
    expect(same, 'the workers are others than before');
    stage.configure(usual);
    await stage.reload();
    const { answered, failed, why, gap } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(refused >= texts.length * 0.8, `only ${refused} of ${texts.length} were refused`);
    return { configurations: texts.length, refused, answered, failed, gap: Math.round(gap) };
  },
};

function count(text, pattern) {
  return text.match(pattern)?.length ?? 0;
}
