import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';

t.test('return', async (t) => {
  const long = 'x'.repeat(4000);
  const s = await startServer(t, {
    conf: streamConf(
      `
      map $remote_addr $text { default ${long}; }
      server { listen 127.0.0.1:%%PORT_0%%; return "$remote_addr\\n"; }
      server { listen 127.0.0.1:%%PORT_1%%; return ""; }
      server { listen 127.0.0.1:%%PORT_2%%; return $text$text; }`,
      ' $bytes_sent',
    ),
  });
  const rest = async (n: number): Promise<string> => (await RawClient.connect(s.port(n))).rest();
  t.equal(await rest(0), '127.0.0.1\n');
  t.equal(await rest(1), '');
  t.equal(await rest(2), long + long);
  await s.accessLogged(/^200 8000$/m);
  await s.accessLogged(/^200 0$/m);
});

t.test('what is refused', async (t) => {
  const inServer = (text: string): string => `events {}\nstream { server { listen 1234; ${text} } }\n`;
  t.match(await configMessage(t, inServer('return a; return b;')), /^"return" directive is duplicate in /);
  t.match(await configMessage(t, inServer('return $nowhere;')), /^unknown "nowhere" variable$/);
  t.match(await configMessage(t, inServer('return 200 x;')), /^invalid number of arguments in "return" directive in /);
});
