import { spawnSync } from 'node:child_process';
import t from 'tap';
import { subcommands } from '../../src/tools/subcommands/subcommand.js';
import { againstNginx } from '../support/binary.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

t.test('bash completes command lines by itself', { skip: !has('bash') && 'no bash' }, async (t) => {
  const { stdout, code } = await runCli(['completion', 'bash']);
  t.equal(code, 0);
  t.notMatch(stdout, /\$\(sluice|node/, 'it starts no program');
  const complete = (...words: string[]): string[] => {
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}\n_sluice\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout: said, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8', env: {} });
    t.equal(stderr, '');
    return said.split('\n').filter((word) => word !== '');
  };
  t.strictSame(complete('sluice', 'exp'), ['explain']);
  t.strictSame(complete('sluice', '').sort(), subcommands.map(({ name }) => name).sort());
  t.strictSame(complete('sluice', '-s', 're'), ['reopen', 'reload']);
  t.ok(complete('sluice', '-').includes('-t'));
  t.ok(complete('sluice', '-s', 'reload', '--w').includes('--wait'));
  t.strictSame(complete('sluice', 'proxy', '3000', '--po'), ['--port']);
  t.strictSame(complete('sluice', 'run', '-c', 'site'), [], 'files are the shell’s business');
});

t.test('zsh and fish get the same words', async (t) => {
  for (const shell of ['zsh', 'fish'] as const) {
    const { stdout, code } = await runCli(['completion'], { env: { SHELL: `/usr/bin/${shell}` } });
    t.equal(code, 0);
    for (const { name, options } of subcommands) {
      t.match(stdout, name);
      for (const { name: option, positional } of options) {
        t.ok(positional || stdout.includes(shell === 'zsh' ? `--${option}[` : `-l ${option} `), `${shell} ${name} ${option}`);
      }
    }
    if (has(shell)) {
      t.equal(spawnSync(shell, ['-n'], { input: stdout }).status, 0);
    }
  }
  t.match(await runCli(['completion', 'csh']), { code: 2, stderr: /there is no script for "csh"/ });
});
