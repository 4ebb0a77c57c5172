import { spawn } from 'node:child_process';
import t from 'tap';
import { beganAt, processStat } from '../../../src/shared/lib/process-stat.js';
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
  // The shell's child ends; the program that takes the shell's place never asks.
  const shell = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60']);
  t.teardown(() => shell.kill('SIGKILL'));
  const [line] = await new Promise<[Buffer]>((resolve) => shell.stdout.once('data', (data: Buffer) => resolve([data])));
  const pid = Number(line);
  await waitFor(() => processStat(pid)?.ended ?? true);
  t.match(processStat(pid), { parent: shell.pid, ended: true });
  t.notOk(processStat(shell.pid!)!.ended);
});
