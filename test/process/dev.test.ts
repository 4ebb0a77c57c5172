import { renameSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const [command, ...first] = serverCommand();

t.test('sluice dev takes over changes, and says what is wrong', async (t) => {
  const prefix = await makePrefix(t, {
    'app.ts': "import { word } from './word.js';\nexport default { hello: (): Response => new Response(word + ' 1') };\n",
    'word.js': "export const word: string = 'hello';\n".replace(': string', ''),
  });
  const conf = await prefix.expand(`user root; pid %%DIR%%/pid; events {} http { access_log off; js_import app from app.ts;
    server { listen 127.0.0.1:%%PORT_0%%; location / { js_content app.hello fetch; } } }`);
  const { dir } = prefix;
  writeFileSync(`${dir}/sluice.conf`, conf.replace('http {', 'http { no_such;'));
  const args = [...first, 'dev', '-p', `${dir}/`, '-c', `${dir}/sluice.conf`];
  const server = startForeground(t, command, args, { cwd: dir, env: {} });
  const write = (name: string, text: string): void => {
    writeFileSync(`${dir}/${name}.new`, text);
    renameSync(`${dir}/${name}.new`, `${dir}/${name}`);
  };
  await server.until(/unknown directive "no_such"[\s\S]*waiting for a change/);
  write('sluice.conf', conf);
  await server.until(/serving on http:\S+, and again after each change/);
  const text = async (headers = {}): Promise<string> => {
    const { status, text } = await httpGet(prefix.port(0), '/', headers);
    return `${status} ${text}`;
  };
  const says = (what: string, headers = {}) => waitFor(async () => ((await text(headers)).includes(what) ? true : undefined), { what });
  t.equal(await text(), '200 hello 1');
  write('word.js', "export const word = 'bye';\n");
  await server.until(/word\.js has changed, reloading/);
  await says('200 bye 1');
  write('app.ts', 'export default { hello: (: Response };\n');
  await server.until(/js_import: [\s\S]*the configuration before it serves on/);
  const html = { Accept: 'text/html,*/*' };
  await says('500 <!DOCTYPE html>', html);
  t.match(await text(html), /The configuration is broken[\s\S]*app\.ts/);
  t.equal(await text(), '200 bye 1', 'others are served what was served before');
  write('app.ts', "export default { hello: () => new Response('mended') };\n");
  await says('200 mended', html);
  t.equal(await server.stop('SIGINT'), 0);
});
