import { readFileSync, writeFileSync } from 'node:fs';

/** Resident memory of a process in MB. */
const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** A machine under load does fewer reloads than a thousand in this time, ms. */
const MOST_TIME = 720_000;

/** A thousand reloads with modules of JavaScript: what was loaded before is freed, in the master too. */
export default {
  id: 'F45',
  what: 'reloads with modules of JavaScript: memory stays flat',
  nginx: false,
  async run(stage, expect) {
    const reloads = stage.short ? 5 : 1000;
    const end = Date.now() + MOST_TIME;
    stage.workerCount = 1;
    writeFileSync(
      `${stage.dir}/app.ts`,
      `const large: string[] = new Array(100000).fill('x'.repeat(10));\nexport default { hello: () => new Response('hello ' + large.length) };\n`,
    );
    await stage.start('js_import app from app.ts; server { listen 127.0.0.1:%%PORT_0%%; location / { js_content app.hello fetch; } }');
    let failed = 0;
    const ask = async () => {
      if (!(await stage.get('/'))?.endsWith('hello 100000')) {
        failed++;
      }
    };
    const figures = [];
    const step = Math.max(1, reloads / 20);
    for (let i = 0; ; i++) {
      await ask();
      const last = i === reloads || Date.now() > end;
      if (i % step === 0 || last) {
        const [worker] = stage.workers();
        figures.push({ reloads: i, master: Math.round(memoryOf(stage.pid)), worker: Math.round(memoryOf(worker)) });
      }
      if (last) {
        break;
      }
      await stage.reload();
    }
    const warm = figures[Math.min(2, figures.length - 1)];
    const last = figures.at(-1) ?? warm;
    expect(failed === 0, `${failed} requests failed`);
    expect(stage.short || last.master <= warm.master * 1.15, `the master's memory went from ${warm.master} to ${last.master} MB`);
    return { failed, figures };
  },
};
