import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

const folder = 'docs/decisions/';
const records = filesBelow(folder, '.md').filter((file) => file !== 'README.md');
const index = readFileSync(`${root}${folder}README.md`, 'utf8');

t.test('each decision has a title, a status and a date, and the index has the same', async (t) => {
  t.ok(records.length > 0);
  const rows = records.map((file) => {
    const number = file.slice(0, 4);
    const head = new RegExp(`^# ${number}: (.+)\n\nStatus: (accepted|superseded by (\\d{4})), (\\d{4}-\\d\\d-\\d\\d)\n\n## `).exec(
      readFileSync(`${root}${folder}${file}`, 'utf8'),
    );
    if (head === null) {
      t.fail(`${file}: no title, status or date`);
      return '';
    }
    const [, title, status, successor, date] = head;
    t.ok(successor === undefined || records.some((other) => other.startsWith(successor)), `${file}: its successor is there`);
    return `| [${number}](${file}) | ${title} | ${status} | ${date} |`;
  });
  t.strictSame(index.match(/^\| \[.*$/gm), rows);
});
