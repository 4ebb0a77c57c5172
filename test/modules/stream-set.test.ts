import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';

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

t.test('what is refused', async (t) => {
  const inServer = (text: string): string => `events {}\nstream { server { listen 1234; ${text} } }\n`;
  t.match(await configMessage(t, inServer('set a b;')), /^invalid variable name "a" in /);
  t.match(await configMessage(t, inServer('set $remote_addr b;')), /^the duplicate "remote_addr" variable in /);
});
