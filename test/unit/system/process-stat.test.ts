import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import t from 'tap';
import { beganAt, processStat } from '../../../src/shared/system/process-stat.js';
import { waitFor } from '../../support/wait.js';

t.test('this process', async (t) => {
  const stat = processStat(process.pid)!;
  t.equal(stat.parent, process.ppid);
  t.notOk(stat.ended);
  const age = Date.now() - beganAt(stat);
  t.ok(Math.abs(age - process.uptime() * 1000) < 60_000, `${age} ms`);
});

t.test('none with that number', async (t) => {
  t.equal(processStat(2 ** 22), undefined);
});

t.test('one that nobody has asked for its end', async (t) => {
  // The program that takes the shell's place never asks for the end of the shell's child, which comes once it is there.
  const shell = spawn('/bin/sh', ['-c', 'cat <&3 >/dev/null & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  t.teardown(() => shell.kill('SIGKILL'));
  const [line] = await new Promise<[Buffer]>((resolve) => shell.stdout!.once('data', (data: Buffer) => resolve([data])));
  const pid = Number(line);
  await waitFor(() => readFileSync(`/proc/${shell.pid}/comm`, 'latin1') === 'sleep\n');
  (shell.stdio[3] as Writable).end();
  await waitFor(() => processStat(pid)?.ended);
  t.match(processStat(pid), { parent: shell.pid, ended: true });
  t.notOk(processStat(shell.pid!)!.ended);
});
