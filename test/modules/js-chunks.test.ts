import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

if (againstNginx && process.env['SLUICE_TEST_NJS'] === undefined) {
  t.bailout('njs is a module of its own');
}

// A body filter is called for each chunk of a backend's response, also for those that come in one piece. The answers are nginx's with njs.

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
const chunked = (...chunks: string[]): string => chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');

for (const buffering of ['on', 'off']) {
  t.test(`chunks that come together, proxy_buffering ${buffering}`, async (t) => {
    let answer = '';
    const backend = await startTcpBackend(t, (socket) => socket.once('data', () => socket.end(answer)));
    const s = await startServer(t, {
      conf: httpConf(`js_path %%DIR%%; js_import a.js;
        server { listen 127.0.0.1:%%PORT_0%%; proxy_buffering ${buffering};
          location /marked { js_body_filter a.marked; proxy_pass http://127.0.0.1:${backend.port}; }
          location /counted { js_body_filter a.counted buffer_type=buffer; proxy_pass http://127.0.0.1:${backend.port}; } }`),
      files: {
        'a.js': `
const marked = (r, data, flags) => r.sendBuffer(data + (flags.last ? '$' : '#'), flags);
let bytes = 0;
function counted(r, data, flags) {
  bytes += data.length;
  if (flags.last) { r.sendBuffer(String(bytes), flags); bytes = 0; }
}
export default { marked, counted };`,
      },
    });
    const text = async (path: string): Promise<string> => (await httpGet(s, path)).text;
    answer = `${HEAD}${chunked('AAA', 'BB', 'C', 'DDDD')}0\r\n\r\n`;
    t.equal(await text('/marked'), 'AAA#BB#C#DDDD#$');
    answer = `${HEAD}${chunked('AAA', 'x'.repeat(50_000), 'C')}0\r\n\r\n`;
    t.match(await text('/marked'), /^AAA#(?:x+#)+C#\$$/);
    // So many that they are not all kept apart: none is lost, and none overtakes another.
    const many = Array.from({ length: 3000 }, (_, i) => `${i},`);
    answer = `${HEAD}${chunked(...many)}0\r\n\r\n`;
    t.equal((await text('/marked')).replace(/[#$]/g, ''), many.join(''));
    t.equal(await text('/counted'), String(many.join('').length));
    answer = `${HEAD}${chunked('AAA', 'BB')}5\r\nCC`;
    // nginx calls the function once more, with nothing.
    t.match(await text('/marked'), /^AAA#BB#CC##?$/, 'one that breaks off');
  });
}
