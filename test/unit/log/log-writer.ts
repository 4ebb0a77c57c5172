// Run by log-file.test.ts in processes of its own: log-writer.ts MODE PATH ...
import { statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogFiles } from '../../../src/shared/log/log-files.js';

const [mode, path = '', extra = ''] = process.argv.slice(2);
const files = new LogFiles();
const failures: string[] = [];
files.failures = { log: (level, message) => failures.push(`${level} ${message}`) };

switch (mode) {
  case 'exit':
    files.open(path).write('held\n');
    process.exit(0);
    break;
  case 'load': {
    const file = files.open(path);
    let number = 0;
    let stop = false;
    process.on('SIGUSR2', () => files.reopenAll());
    process.on('SIGTERM', () => (stop = true));
    const work = () => {
      for (let i = 0; i < 20; i++, number++) {
        file.write(`${extra} ${number} ${'x'.repeat(10 + (number % 300))}.\n`);
      }
      if (stop) {
        process.exit(failures.length);
      }
      setTimeout(work, 0);
    };
    work();
    process.stdout.write('ready\n');
    break;
  }
  case 'broken': {
    const file = files.open(path);
    const started = Date.now();
    const work = () => {
      file.write('x\n');
      if (failures.length > 0 || Date.now() - started > 30_000) {
        file.write('y\n');
        file.flush();
        writeFileSync(extra, `alive ${failures.join('; ')}`);
        process.exit(0);
      }
      setTimeout(work, 5);
    };
    work();
    break;
  }
  case 'full': {
    const line = `${'y'.repeat(998)}\n`;
    const log = `${path}/a.log`;
    writeFileSync(`${path}/ballast`, 'x'.repeat(30_000));
    const file = files.open(log);
    for (let i = 0; i < 100; i++) {
      file.write(line);
    }
    file.flush();
    const full = statSync(log).size;
    writeFileSync(`${path}/ballast`, '');
    for (const deadline = Date.now() + 30_000; statSync(log).size === full && Date.now() < deadline; ) {
      file.write(line);
      await sleep(50);
    }
    process.stdout.write(JSON.stringify({ full, after: statSync(log).size, failures }));
    break;
  }
  case 'at':
    files.open(path).write('a line\n');
    break;
  case 'standard':
    files.open('/dev/stdout').write('to stdout\n');
    files.stderr().write('to stderr\n');
    break;
}
