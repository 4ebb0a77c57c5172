import { readFileSync } from 'node:fs';
import t from 'tap';
import { isCertificate, issued, type Scene, scene, shown } from '../support/acme-scene.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { noPebble } from '../support/pebble.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** The guide's module, in which a service says which names are ours. */
const GUIDE = readFileSync(new URL('../../conf/examples/https/on-demand.js', import.meta.url), 'utf8');

const MODULE = `
async function wrong(r) {
  const said = [];
  for (const [issuer, name] of [['none', 'a.example.com'], ['fixed', 'a.example.com'], ['ca', '*.example.com'], ['ca', '.example.com'], ['ca', '127.0.0.1'], ['ca', ''], ['ca', 'a b'], ['ca']]) {
    try { await ngx.acme.certificate(issuer, name); said.push('none'); } catch (e) { said.push(e.name + ': ' + e.message); }
  }
  r.return(200, said.join('\\n'));
}
export default { wrong };`;

const confOf = ({ dns, http, tls, issuer }: Scene, lines: string, main = ''): string =>
  httpConf(
    `resolver 127.0.0.1:${dns.port} ipv6=off;
    ${issuer('ca', `accept_terms_of_service; ${lines}`)}
    ${issuer('fixed')}
    js_import main.js;
    js_import ondemand.js;
    server { listen 127.0.0.1:${http}; deny all; return 403; }
    server { listen 127.0.0.1:%%PORT_0%%; location / { js_content main.wrong; } }
    server {
      listen 127.0.0.1:${tls} ssl;
      ssl_reject_handshake on;
      js_ssl_certificate ondemand.certificate timeout=60s cache=0;
      return 200 "$ssl_server_name";
    }`,
    main,
  );

t.test('certificates on demand, for the names that a service knows', { skip: noPebble }, async (t) => {
  const names = ['one.example.com', 'two.example.com', 'three.example.com'];
  const made = await scene(t, [...names, 'strange.example.com']);
  const asked: string[] = [];
  const service = await startOrigin(t, ({ target }) => {
    const name = /domain=(.*)/.exec(target)![1]!;
    asked.push(name);
    return names.includes(name) ? { body: 'ours' } : { status: 404 };
  });
  const ours = GUIDE.replace('127.0.0.1:3000', `127.0.0.1:${service.port}`).replace('letsencrypt', 'ca');
  const files = { 'main.js': MODULE, 'ondemand.js': ours };
  const server = await startServer(t, {
    conf: confOf(made, 'on_demand 2;', 'worker_processes 2;'),
    files,
    expectAlerts: /names on demand/,
  });
  const root = await made.ca.root();
  const serial = async (name: string): Promise<string> => {
    const found = await shown(made.tls, name, root);
    return isCertificate(found) ? found.serialNumber : `none: ${found.message}`;
  };

  const together = await Promise.all(Array.from({ length: 4 }, () => serial('one.example.com')));
  t.match(together[0], /^[0-9A-F]+$/, 'the handshake waits for the CA');
  t.equal(new Set(together).size, 1, 'clients that come together, at either worker, get one certificate');
  t.equal(made.ca.orders.length, 1);
  t.equal(await serial('one.example.com'), together[0], 'and those that come later');
  t.match(await serial('strange.example.com'), /^none: /, 'a name that the service does not know is refused');
  t.equal(made.ca.orders.length, 1, '... and not ordered');
  t.ok(asked.includes('strange.example.com'));

  await server.reload();
  t.equal(await serial('one.example.com'), together[0], 'a reload keeps it');
  await server.stop();
  await made.ca.goAway();
  await server.start();
  t.equal(await serial('one.example.com'), together[0], 'so does a restart without the CA');
  await made.ca.comeBack();
  t.match(await serial('two.example.com'), /^[0-9A-F]+$/);
  await waitFor(() => issued(server) === 2, { what: () => server.log() });
  t.match(await serial('three.example.com'), /^none: /, 'there are two at most');
  await server.logged('acme_issuer "ca" has 2 names on demand, "three.example.com" is one too many');

  const said = (await (await fetch(`http://127.0.0.1:${server.port(0)}/`)).text()).split('\n');
  t.match(said, [
    /^TypeError: there is no acme_issuer "none" with "on_demand"$/,
    /^TypeError: there is no acme_issuer "fixed" with "on_demand"$/,
    /^TypeError: no certificate can be had for "\*\.example\.com": is not the name of one host$/,
    /^TypeError: no certificate can be had for "\.example\.com": is not the name of one host$/,
    /^TypeError: no certificate can be had for "127\.0\.0\.1": is not the name of one host$/,
    /^TypeError: no certificate can be had for "": /,
    /^TypeError: no certificate can be had for "a b": /,
    /^Error: acme_issuer "ca" has 2 names on demand, "undefined" is one too many$/,
  ]);
});

t.test('a CA that gives none', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  await made.ca.goAway();
  const ours = `export default { certificate: (name) => ngx.acme.certificate('ca', name) };`;
  const files = { 'main.js': MODULE, 'ondemand.js': ours };
  const server = await startServer(t, { conf: confOf(made, 'on_demand;'), files, expectAlerts: /there is no certificate/ });
  const refused = await shown(made.tls, 'one.example.com');
  t.match(refused, { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' });
  await server.logged(/there is no certificate for "one\.example\.com": directory update failed/);
});

t.test('what the configuration may say', async (t) => {
  const message = (line: string, more = ''): Promise<string | undefined> =>
    configMessage(
      t,
      httpConf(`resolver 127.0.0.1; ${more} acme_issuer ca { uri http://127.0.0.1:1/; ${line} } server { listen 127.0.0.1:%%PORT_0%%; }`),
    );
  for (const value of ['0', 'x', '-1', '1000000']) {
    t.match(await message(`on_demand ${value};`), /"on_demand" directive "invalid value"/, value);
  }
  t.match(await message('on_demand 1 2;'), /invalid number of arguments in "on_demand"/);
  t.match(await message('on_demand; on_demand;'), /"on_demand" directive "is duplicate"/);
});
