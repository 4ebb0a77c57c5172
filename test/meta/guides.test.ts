import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { certs } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';
import { root } from './source-files.js';

const folder = `${root}docs/guides/`;
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'));

/** The configurations of a guide, without the indentation of a list that they stand in. */
function blocksOf(guide: string): string[] {
  const blocks = [...readFileSync(folder + guide, 'utf8').matchAll(/^( *)```nginx\n([\s\S]*?)^ *```$/gm)];
  return blocks.map(([, indent = '', block = '']) => block.replaceAll(`\n${indent}`, '\n'));
}

/** The text with ports, certificates and the system's folders replaced by what a test may use. */
function moved(text: string, dir: string): string {
  const { rsa } = certs();
  return text
    .replace(/^( *listen +)([^ ;]+)/gm, (_, listen, address) => `${listen}unix:${dir}/${address.replace(/\W/g, '_')}`)
    .replaceAll(/\/etc\/ssl\/[\w./-]+\.pem/g, rsa.cert)
    .replaceAll(/\/etc\/ssl\/[\w./-]+\.key/g, rsa.key)
    .replaceAll(/\/(var\/log|var\/cache|run)\/sluice/g, `${dir}/var`)
    .replace(/^user .*\n/m, '');
}

for (const guide of guides.filter((name) => name !== 'README.md')) {
  t.test(guide, async (t) => {
    const { dir, write } = await makePrefix(t);
    mkdirSync(`${dir}/var`);
    const copied = spawnSync('sh', [
      '-c',
      `cp -R ${root}conf/mime.types ${root}conf/snippets ${root}conf/*_params ${root}conf/fastcgi.conf ${dir}`,
    ]);
    t.equal(copied.status, 0);
    const blocks = blocksOf(guide);
    t.ok(blocks.length > 0, 'it has a configuration');
    for (const block of blocks) {
      const whole = /^http \{/m.test(block) ? block : `events {}\nhttp {\ninclude mime.types;\naccess_log off;\n${block}\n}\n`;
      await write('sluice.conf', moved(whole, dir));
      const { code, stderr } = await runCli(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr']);
      t.equal(code, 0, stderr);
      t.notMatch(stderr.replaceAll(/.*does not cover the server name.*\n/g, ''), /\[warn\]/, 'without a warning');
    }
  });
}

t.test('every guide is listed, and links lead somewhere', async (t) => {
  const index = readFileSync(`${folder}README.md`, 'utf8');
  for (const guide of guides) if (guide !== 'README.md') t.match(index, `(${guide})`);
  for (const guide of guides) {
    for (const [, link = ''] of readFileSync(folder + guide, 'utf8').matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)) {
      t.doesNotThrow(() => readFileSync(folder + link), `${guide}: ${link}`);
    }
  }
});
