// The cost of one text with variables, in microseconds of CPU time: node scripts/bench/micro/complex-value.mjs
import { bundleSources } from '../bundle.mjs';
import { measure } from './timing.mjs';
import { subject, variables } from './variables.mjs';

const { compileComplex, VariableTable } = await import(
  await bundleSources(
    'complex-value',
    `export { compileComplex } from './shared/value/complex.js';
export { VariableTable } from './shared/value/variables.js';`,
  )
);

const texts = {
  'no variable': '/srv/www',
  'one, known already': '$scheme',
  'text and one': '/srv/www/$host',
  'one, computed anew each time': '$uri',
  'a capture': '/index.php/$1',
  'four variables': '$scheme://$host$uri?$args',
  'eight variables': '$remote_addr $remote_user $request $status $body_bytes_sent $http_referer $http_user_agent $request_time',
};

const table = new VariableTable();
for (const variable of variables) {
  table.define(variable);
}
const values = Object.entries(texts).map(([name, text]) => [name, compileComplex(text, table)]);
table.bind((name) => {
  throw new Error(`unknown variable ${name}`);
});
const r = subject(table.size);
const bytes = Buffer.alloc(1024);

for (const [name, value] of values) {
  // Copied out as whoever asks for it does: what V8 puts together is only a note of the parts before.
  measure(name, 1_000_000, () => bytes.latin1Write(value.eval(r), 0));
}
measure('the copy alone', 1_000_000, () => bytes.latin1Write('/srv/www/www.example.com', 0));
