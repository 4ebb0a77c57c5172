// Prints the ten files of a test run that took longest. Argument: the folder where tap left what each file said.
import { globSync, readFileSync } from 'node:fs';

const folder = process.argv[2] ?? '.tap/test-results';
const times = globSync('**/*.tap', { cwd: folder }).flatMap((name) => {
  // The last such line without an indent is the file's own.
  const time = [...readFileSync(`${folder}/${name}`, 'latin1').matchAll(/^# time=([\d.]+)ms$/gm)].at(-1)?.[1];
  return time === undefined ? [] : [{ name: name.replace(/\.tap$/, ''), seconds: Number(time) / 1000 }];
});
if (times.length > 1) {
  const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
  console.log(`# ${times.length} files ran for ${total.toFixed(0)} s in all; the slowest:`);
  for (const { name, seconds } of times.sort((a, b) => b.seconds - a.seconds).slice(0, 10)) {
    console.log(`# ${seconds.toFixed(1).padStart(6)} s ${name}`);
  }
}
