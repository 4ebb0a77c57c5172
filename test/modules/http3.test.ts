import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

t.test('what directives take', async (t) => {
  const message = (line: string): Promise<string | undefined> => configMessage(t, httpConf(`server { ${line} }`));
  t.equal(await message('http3 on; http3_hq off; http3_max_concurrent_streams 7; http3_stream_buffer_size 1m;'), undefined);
  t.match(await message('http3 yes;'), 'invalid value "yes" in "http3" directive, it must be "on" or "off"');
  t.match(await message('http3_max_concurrent_streams x;'), 'invalid number');
  t.match(await message('http3_stream_buffer_size x;'), '"http3_stream_buffer_size" directive invalid value');
  t.match(await message('http3 on; http3 off;'), '"http3" directive is duplicate');
});

t.test('other protocols are not HTTP/3', async (t) => {
  const server = await startServer(t, { conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; return 200 "<$http3>"; }') });
  t.equal((await httpGet(server.port(0), '/')).body.toString(), '<>');
});
