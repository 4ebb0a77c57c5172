import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('split_clients', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /half { return 200 "$half"; }
      location /part { return 200 "[$part]"; }
      location /full { return 200 "$full"; }
      location /value { return 200 "$value"; }`,
      `
      split_clients "\${arg_k}AAA" $half { 50% a; * b; }
      split_clients $arg_k $part { 0.5% tiny; 10.25% some; }
      split_clients $arg_k $full { 33.33% one; 66.67% two; * never; }
      split_clients $arg_k $value { * $arg_k; }`,
    ),
  });
  const half = [];
  const full = [];
  for (let i = 0; i < 8; i++) {
    half.push((await httpGet(s, `/half?k=client${i}`)).text);
    full.push((await httpGet(s, `/full?k=client${i}`)).text);
  }
  t.same(half, ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'a']);
  t.same(full, ['two', 'two', 'two', 'one', 'one', 'one', 'two', 'one']);
  t.equal((await httpGet(s, '/part?k=')).text, '[tiny]', 'the hash of nothing is 0');
  t.equal((await httpGet(s, '/part?k=abcd')).text, '[]', 'the rest gets nothing');
  t.equal((await httpGet(s, '/value?k=x')).text, '$arg_k', 'values are plain text');
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['split_clients $arg_x x { }', 'invalid variable name "x" in %%FILE%%:6'],
    ['split_clients $arg_x $uri { }', 'the duplicate "uri" variable in %%FILE%%:6'],
    ['split_clients $arg_x $x {\n10 a;\n}', 'invalid percent value "10" in %%FILE%%:7'],
    ['split_clients $arg_x $x {\n1.234% a;\n}', 'invalid percent value "1.234%" in %%FILE%%:7'],
    ['split_clients $arg_x $x {\n0% a;\n}', 'invalid percent value "0%" in %%FILE%%:7'],
    ['split_clients $arg_x $x {\n% a;\n}', 'invalid percent value "%" in %%FILE%%:7'],
    ['split_clients $arg_x $x {\n60% a;\n50% b;\n}', 'percent total is greater than 100% in %%FILE%%:9'],
    ['split_clients $arg_x $x { 60% a; 40% b; * c; }', undefined],
    ['split_clients $arg_x $x { .5% a; 5.% b; }', undefined],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
});
