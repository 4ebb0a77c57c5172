// The cost of one line of an access log, in microseconds of CPU time: node scripts/bench/micro/log-line.mjs
import { bundleSources } from '../bundle.mjs';
import { measure } from './timing.mjs';
import { subject, variables } from './variables.mjs';

const { compileFormat, parseFormat, VariableTable } = await import(
  await bundleSources(
    'log-line',
    `export { compileFormat, parseFormat } from './shared/log/format.js';
export { VariableTable } from './shared/value/variables.js';`,
  )
);

const combined = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';
const json = `{"time":"$time_iso8601","addr":"$remote_addr","request":"$request","status":$status,"bytes":$body_bytes_sent,"referer":"$http_referer","agent":"$http_user_agent","seconds":$request_time}`;
const formats = {
  combined: [combined, 'default'],
  JSON: [json, 'json'],
  'combined, a value to escape': [combined.replace('$http_referer', '$quoted'), 'default'],
  'JSON, a value to escape': [json.replace('$http_referer', '$quoted'), 'json'],
  'combined, not escaped': [combined, 'none'],
};
/** As the access log has it: what the server makes itself is not searched. */
const plain = new Set(['time_local', 'time_iso8601', 'request_time', 'status', 'body_bytes_sent']);

const table = new VariableTable();
for (const variable of variables) {
  table.define(variable);
}
const fail = (message) => {
  throw new Error(message);
};
const lines = Object.entries(formats).map(([name, [text, escaping]]) => {
  const lookup = (variable) => {
    const slot = table.slot(variable);
    return { get: (r) => table.fresh(r, slot), plain: plain.has(variable) };
  };
  return [name, compileFormat(parseFormat(text, fail), escaping, lookup)];
});
table.bind(fail, fail);
const bytes = Buffer.alloc(64 * 1024);
/** Lines of one turn, which are copied out together. */
const LINES = 8;

for (const [name, line] of lines) {
  const turn = () => {
    let pending = '';
    for (let i = 0; i < LINES; i++) {
      pending += `${line(subject(table.size))}\n`;
    }
    bytes.latin1Write(pending, 0);
  };
  measure(name, 30_000, turn, { each: LINES });
}
