import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';

if (againstNginx) {
  t.bailout('nginx does not run on Node');
}

const root = new URL('../../', import.meta.url).pathname;
const dist = (process.env['SLUICE_DIST'] ?? `${root}dist`).replace(/\/$/, '');
const checkoutNode = `${root}node_modules/node-${process.platform}-${process.arch}/bin/node`;

/** Nodes that are too old, as the command and its variables: this one, which says that it is Node 20, and those of the system. */
async function oldNodes(): Promise<{ readonly command: readonly [string, ...string[]]; readonly version: string; readonly env: object }[]> {
  const { dir } = await makePrefix(t);
  // What is put in this one's place is no longer told to be old.
  const lie = `${dir}/lie.cjs`;
  writeFileSync(
    lie,
    `if (process.env.SLUICE_TEST_OLD) {
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.SLUICE_TEST_OLD } });
      delete process.env.SLUICE_TEST_OLD;
    }`,
  );
  const lying = ['20.20.2', '22.11.0', '16.0.0'].map((version) => ({
    command: [process.execPath, '--require', lie] as const,
    version,
    env: { SLUICE_TEST_OLD: version },
  }));
  const found = ['/usr/bin/node', '/usr/local/bin/node'].flatMap((node) => {
    const version = existsSync(node) ? spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim() : '';
    return Number.parseInt(version, 10) < 22 ? [{ command: [node] as const, version, env: {} }] : [];
  });
  return [...lying, ...found];
}

const run = ([command, ...args]: readonly [string, ...string[]], own: readonly string[], env: object) =>
  spawnSync(command, [...args, ...own], { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', ...env } });

t.test('a Node that is too old', async (t) => {
  const { dir } = await makePrefix(t);
  const [published, checkout] = [`${dir}/published`, `${dir}/checkout`];
  for (const folder of [published, checkout]) {
    mkdirSync(folder);
    for (const name of ['sluice.js', 'old-node.js', 'package.json']) {
      cpSync(`${dist}/${name}`, `${folder}/dist/${name}`);
    }
  }
  // What would load SQLite says so instead.
  writeFileSync(
    `${checkout}/dist/program.js`,
    `(function (exports) { exports.run = async (args) => {
      console.log(JSON.stringify({ args, version: process.versions.node, pid: process.pid, own: process.env.OWN }));
      return 7;
    }; })`,
  );
  symlinkSync(`${root}node_modules`, `${checkout}/node_modules`);
  const hasCheckoutNode = existsSync(checkoutNode);

  for (const { command, version, env } of await oldNodes()) {
    const refused = run(command, [`${published}/dist/sluice.js`, '-t'], env);
    t.equal(refused.status, 1);
    t.equal(refused.stdout, '');
    t.match(refused.stderr, new RegExp(`^sluice: Node 22\\.12 or later is needed, and /.* is Node ${version}: install Node 24 .*\n$`));

    if (!hasCheckoutNode) {
      continue;
    }
    const went = run(command, [`${checkout}/dist/sluice.js`, '-c', 'ä b', ''], { ...env, OWN: 'x=y' });
    t.equal(went.stderr, '');
    t.equal(went.status, 7, 'the exit code is the new one');
    const told = JSON.parse(went.stdout);
    t.equal(told.pid, went.pid, 'in the same process');
    t.equal(Number.parseInt(told.version, 10), 24);
    t.strictSame(told.args, ['-c', 'ä b', '']);
    t.equal(told.own, 'x=y');
  }
});
