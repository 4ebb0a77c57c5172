import t from 'tap';
import { unclosedBlock } from '../../../src/shared/config/language/unclosed.js';

t.test('the block that lacks its end is found by the indentation', (t) => {
  t.strictSame(unclosedBlock('http {\n  server {\n    location / {\n      return 200;\n  }\n}\n'), {
    name: 'location',
    line: 3,
    column: 5,
    takenLine: 5,
    of: 'server',
  });
  t.match(unclosedBlock('http {\n\tserver {\n\t\tlisten "a\n{";\n\t\tif ($a) {\n\t}\n}'), {
    name: 'if',
    line: 5,
    column: 3,
    takenLine: 6,
    of: 'server',
  });
  t.equal(unclosedBlock('http {\n  server {\n    listen 80; }\n'), undefined, 'an end behind other words tells nothing');
  t.equal(unclosedBlock('http {\nserver {\nlisten 80;\n}\n'), undefined, 'nor does one without indentation');
  t.equal(unclosedBlock('http { server { listen "\n"; }\n'), undefined, 'nor one behind the end of a text');
  t.end();
});

t.test('long lines and deep blocks cost no more than their length', (t) => {
  t.equal(unclosedBlock(`http { ${'server { listen 80; } '.repeat(50_000)}`), undefined);
  t.equal(unclosedBlock(`${'a {\n'.repeat(50_000)}${'} '.repeat(49_999)}`), undefined);
  t.match(unclosedBlock(`http {\n  server {\n${'    a {\n'.repeat(50_000)}  }\n`), { name: 'a', of: 'server' });
  t.end();
});
