import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';
import { waitFor } from '../support/wait.js';

const root = new URL('../../', import.meta.url).pathname;

/** Commands that serve until they are ended: test/process/serve-command.test.ts and dev.test.ts run them. */
const SERVING = ['run', 'dev'];

t.test("README's commands do what it says, in its order", { skip: againstNginx && 'ours' }, async (t) => {
  const [, block] = /Work with a configuration[\s\S]*?```\n([\s\S]*?)```/.exec(readFileSync(`${root}README.md`, 'utf8'))!;
  const lines = block!
    .trim()
    .split('\n')
    .map((line) => /^sluice *(.*?) *# /.exec(line)![1]!);
  t.ok(lines.length > 10);
  // A copy of the checkout's configuration on a free port.
  const prefix = await makePrefix(t, { 'logs/README': '' });
  const { dir } = prefix;
  cpSync(`${root}conf`, `${dir}/conf`, { recursive: true });
  const port = await prefix.expand('%%PORT_0%%');
  const change = (file: string, by: (text: string) => string) => writeFileSync(file, by(readFileSync(file, 'utf8')));
  const conf = `${dir}/conf/sluice.conf`;
  for (const file of [conf, `${dir}/conf/sluice.test.conf`]) {
    change(file, (text) => text.replaceAll(':8080', `:${port}`));
  }
  // Workers of a server that root starts have no way into the folder otherwise.
  change(conf, (text) => `user root;\n${text}`);
  const sluice = async (line: string) => runCli([...line.split(' ').filter((word) => word !== ''), '-p', `${dir}/`]);
  const running = () => waitFor(async () => (await sluice('status')).code === 0);
  t.teardown(() => sluice('-s stop'));
  for (const line of lines) {
    if (SERVING.includes(line)) {
      continue;
    }
    if (line === '-s reload') {
      change(conf, (text) => text.replace('http {', 'http {\n    max_ranges 7;'));
    }
    const { code, stdout, stderr } = await sluice(line);
    t.equal(code, 0, `sluice ${line}: ${stdout}${stderr}`);
    if (line === '') {
      await running();
    } else if (line === '-s reload') {
      await waitFor(async () => /changes nothing/.test((await sluice('diff')).stdout));
    } else if (line === '-s quit') {
      await waitFor(async () => (await sluice('status')).code !== 0);
    }
  }
});
