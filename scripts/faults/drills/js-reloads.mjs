import { readFileSync, writeFileSync } from 'node:fs';

/** Resident memory of a process in MB. */
const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** A thousand reloads with modules of JavaScript: what was loaded before is freed, in the master too. */
export default {
  id: 'F45',
  what: 'reloads with modules of JavaScript: memory stays flat',
  nginx: false,
  async run(stage, expect) {
    const reloads = stage.short ? 5 : 1000;
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
    for (let i = 0; i <= reloads; i++) {
      await ask();
      if (i % Math.max(1, Math.floor(reloads / 10)) === 0) {
        figures.push({ reloads: i, master: Math.round(memoryOf(stage.pid)), all: Math.round(stage.memory()) });
      }
      if (i < reloads) {
        await stage.reload();
      }
    }
    const warm = figures[Math.min(2, figures.length - 1)];
    const last = figures.at(-1);
    expect(failed === 0, `${failed} requests failed`);
    expect(stage.short || last.master <= warm.master * 1.15, `the master's memory went from ${warm.master} to ${last.master} MB`);
    return { failed, figures };
  },
};
