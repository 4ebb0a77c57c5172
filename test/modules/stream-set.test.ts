import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('set', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      map $remote_addr $mapped { default map; }
      server { listen 127.0.0.1:%%PORT_0%%; set $a one; set $b "$a two"; set $mapped "$mapped!"; return "$b $mapped"; }
      server { listen 127.0.0.1:%%PORT_1%%; return "$a $mapped"; }`),
  });
  const rest = async (n: number): Promise<string> => (await RawClient.connect(s.port(n))).rest();
  t.equal(await rest(0), 'one two map!');
  t.equal(await rest(1), ' map', 'elsewhere a variable has what it has without set');
});

t.test('set comes before what refuses a session, and before what is read ahead', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      log_format told "$server_port $status [$a][$early]"; access_log %%DIR%%/told.log told;
      limit_conn_zone $server_port zone=one:1m;
      js_path %%DIR%%; js_import m from m.js; js_var $seen;
      server { listen 127.0.0.1:%%PORT_0%%; set $a denied; deny all; return no; }
      server { listen 127.0.0.1:%%PORT_1%%; set $a script; js_access m.refuse; return no; }
      server { listen 127.0.0.1:%%PORT_2%%; set $a one; limit_conn one 1; js_preread m.wait; return "$a"; }
      server { listen 127.0.0.1:%%PORT_3%%; set $early "early:$ssl_preread_protocol"; ssl_preread on; return "$early $ssl_preread_protocol"; }`),
    files: {
      'm.js': `export default {
        refuse(s) { s.variables.a === 'script' ? s.deny() : s.allow(); },
        wait(s) { s.on('upload', (data) => data.length > 0 && s.done()); } };`,
    },
  });
  t.equal(await (await RawClient.connect(s.port(0))).rest(), '');
  t.equal(await (await RawClient.connect(s.port(1))).rest(), '');
  const first = await RawClient.connect(s.port(2));
  const second = await RawClient.connect(s.port(2));
  // Which of the two has the place is not ours to say.
  const logged = (line: string): Promise<unknown> =>
    waitFor(() => s.read('told.log').includes(line), { what: () => `${line} in ${s.read('told.log')}` });
  await logged(`${s.port(2)} 503 [one][]`);
  first.destroy();
  second.destroy();
  await logged(`${s.port(0)} 403 [denied][]`);
  await logged(`${s.port(1)} 403 [script][]`);
  const client = await RawClient.connect(s.port(3));
  client.send('this is no TLS');
  t.equal(await client.rest(), 'early: ');
  await logged(`${s.port(3)} 200 [][early:]`);
});

t.test('what is refused', async (t) => {
  const inServer = (text: string): string => `events {}\nstream { server { listen 1234; ${text} } }\n`;
  t.match(await configMessage(t, inServer('set a b;')), /^invalid variable name "a" in /);
  t.match(await configMessage(t, inServer('set $remote_addr b;')), /^the duplicate "remote_addr" variable in /);
});
