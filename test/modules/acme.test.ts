import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:tls';
import t from 'tap';
import { certificateOf, conf, isCertificate, issued, scene, shown, stateOf } from '../support/acme-scene.js';
import { configMessage } from '../support/config-message.js';
import { noPebble } from '../support/pebble.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('a certificate for several names, found by all workers and kept over a restart', { skip: noPebble }, async (t) => {
  const names = ['one.example.com', 'www.example.com', 'example.com'];
  const made = await scene(t, names, { badNonces: 20 });
  const server = await startServer(t, {
    conf: conf(made, 'one.example.com .example.com', 'contact admin@example.com;', '', 'worker_processes 3;'),
  });
  const root = await made.ca.root();
  const certificate = await certificateOf(server, made.tls, 'one.example.com', root);
  t.same(certificate.subjectAltName?.split(', ').sort(), ['DNS:example.com', 'DNS:one.example.com', 'DNS:www.example.com']);
  const { serialNumber } = certificate;
  for (let n = 0; n < 12; n++) {
    const again = await shown(made.tls, 'example.com', root);
    t.equal(isCertificate(again) && again.serialNumber, serialNumber, 'each worker has it');
  }
  t.equal((await httpGet(made.http, '/')).status, 403, 'the server with the answers keeps its rules');
  t.equal((await httpGet(made.http, '/.well-known/acme-challenge/unknown')).status, 403, 'tokens of others are none of our business');
  await server.logged(
    /\[notice\] .*certificate issued, renewal scheduled at \d{4}-.*, acme issuer: "ca", order: "one\.example\.com-[0-9a-f]{16}"/,
  );
  t.match(server.log(), /\[info\] .*account "https:.*" created, acme issuer: "ca"/);
  const state = stateOf(server);
  t.match(state, [/^account\.key$/, /^account\.url$/, /^one\.example\.com-[0-9a-f]+\.crt$/, /^one\.example\.com-[0-9a-f]+\.key$/]);
  for (const name of state) {
    const { mode, uid } = statSync(`${server.dir}/ca/${name}`);
    t.equal(mode & 0o777, 0o600, name);
    t.equal(uid, statSync(`${server.dir}/ca`).uid, 'it belongs to the owner of the folder');
  }
  t.equal(made.ca.orders.length, 1);

  await server.reload();
  t.equal((await certificateOf(server, made.tls, 'example.com', root)).serialNumber, serialNumber, 'a reload changes nothing');
  await server.stop();
  await made.ca.goAway();
  await server.start();
  t.equal((await certificateOf(server, made.tls, 'example.com', root)).serialNumber, serialNumber, 'neither does a restart without the CA');
  t.equal(made.ca.orders.length, 1);
  t.equal(issued(server), 1);
});

t.test('until there is a certificate, handshakes fail', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  await made.ca.goAway();
  const server = await startServer(t, { conf: conf(made, 'one.example.com') });
  await server.logged(
    /\[warn\] .*directory update failed \(.*ECONNREFUSED.*\) while creating account, next attempt at .*, acme issuer: "ca"/,
  );
  const refused = await shown(made.tls, 'one.example.com');
  t.match(refused, { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' });
  await server.logged(/\[info\] .*SSL_do_handshake\(\) failed \(SSL: error:0A000179:SSL routines::cert cb error\) while SSL handshaking/);
  await made.ca.comeBack();
  t.ok(await certificateOf(server, made.tls, 'one.example.com', await made.ca.root()), 'the CA is tried again');
});

t.test('challenges by TLS-ALPN-01, for names and addresses', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  const server = await startServer(t, { conf: conf(made, 'one.example.com 127.0.0.1', 'challenge tls-alpn;', '', 'worker_processes 2;') });
  const certificate = await certificateOf(server, made.tls, 'one.example.com', await made.ca.root());
  t.equal(certificate.subjectAltName, 'DNS:one.example.com, IP Address:127.0.0.1');
  await server.logged(/\[info\] .*a challenge was answered by acme-tls\/1 while SSL handshaking/);
  const other = await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: made.tls, servername: 'x.example.com', ALPNProtocols: ['acme-tls/1'] });
    socket.on('error', resolve);
  });
  t.match(other, { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' }, 'there is no challenge for this name');
});

t.test('a zone of another size keeps what no file has', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  const without = (zone: string): string =>
    conf(made, 'one.example.com').replace('state_path %%DIR%%/ca;', 'state_path off;').replace('http {', `http { ${zone}`);
  const server = await startServer(t, { conf: without('') });
  const root = await made.ca.root();
  const { serialNumber } = await certificateOf(server, made.tls, 'one.example.com', root);
  await server.reload(without('acme_shared_zone zone=ngx_acme_shared:1m;'));
  const again = await shown(made.tls, 'one.example.com', root);
  t.equal(isCertificate(again) && again.serialNumber, serialNumber, 'the certificate is there at once');
  t.equal(made.ca.orders.length, 1);
});

t.test('several issuers and kinds of keys', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['ec.example.com', 'rsa.example.com']);
  const more = `${made.issuer('other', 'accept_terms_of_service; account_key rsa:2048; common_name_in_csr on;')}
    server {
      listen 127.0.0.1:${made.tls} ssl;
      server_name rsa.example.com;
      acme_certificate other 127.0.0.1 rsa.example.com key=rsa:2048;
      ssl_certificate $acme_certificate;
      ssl_certificate_key $acme_certificate_key;
    }`;
  const server = await startServer(t, { conf: conf(made, 'ec.example.com', 'account_key ecdsa:384;', more) });
  const root = await made.ca.root();
  const ec = await certificateOf(server, made.tls, 'ec.example.com', root);
  t.match(ec.publicKey.asymmetricKeyDetails, { namedCurve: 'prime256v1' });
  const rsa = await certificateOf(server, made.tls, 'rsa.example.com', root);
  t.match(rsa.publicKey.asymmetricKeyDetails, { modulusLength: 2048 });
  t.match(rsa.subjectAltName, 'IP Address:127.0.0.1');
  t.match(readFileSync(`${server.dir}/ca/account.key`, 'utf8'), 'PRIVATE KEY');
});

t.test('an account that the CA binds to one of its own', { skip: noPebble }, async (t) => {
  const key = Buffer.from('a key of thirty-two bytes, as is.').toString('base64url');
  const made = await scene(t, ['one.example.com'], { externalKeys: { 'kid-1': key } });
  const server = await startServer(t, { conf: conf(made, 'one.example.com') });
  await server.logged(/\[error\] .*externalAccountRequired: external account key required while creating account/);
  await server.write('eab.key', `${key}\n`);
  await server.reload(conf(made, 'one.example.com', 'external_account_key kid-1 %%DIR%%/eab.key;'));
  t.ok(await certificateOf(server, made.tls, 'one.example.com', await made.ca.root()));
});

t.test('renewal by time, without a reload', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com'], { validity: 6 });
  const server = await startServer(t, { conf: conf(made, 'one.example.com', '', '', 'worker_processes 2;') });
  const first = await certificateOf(server, made.tls, 'one.example.com');
  await waitFor(() => issued(server) >= 3, { what: () => server.log().slice(-1500) });
  t.not((await certificateOf(server, made.tls, 'one.example.com')).serialNumber, first.serialNumber);
});

t.test('renewal when the CA wants it', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  const asked: string[] = [];
  let window = ['2100-01-01T00:00:00Z', '2100-01-02T00:00:00Z'];
  made.ca.intercept = ({ path }, answer) => {
    if (path === '/dir') {
      answer(200, {
        ...Object.fromEntries(
          Object.entries({ newNonce: 'nonce-plz', newAccount: 'sign-me-up', newOrder: 'order-plz' }).map(([name, to]) => [
            name,
            made.ca.directory.replace('dir', to),
          ]),
        ),
        renewalInfo: made.ca.directory.replace('dir', 'renewal-info'),
      });
      return true;
    }
    if (!path.startsWith('/renewal-info/')) {
      return false;
    }
    asked.push(path.slice('/renewal-info/'.length));
    answer(
      200,
      { suggestedWindow: { start: window[0], end: window[1] }, explanationURL: 'https://ca.example.com/why' },
      { 'retry-after': '60' },
    );
    return true;
  };
  const server = await startServer(t, { conf: conf(made, 'one.example.com') });
  await certificateOf(server, made.tls, 'one.example.com', await made.ca.root());
  await waitFor(() => asked.length > 0);
  t.match(asked[0], /^[\w-]+\.[\w-]+$/);
  await server.logged(/\[warn\] .*invalid renewal window while updating renewal info/);
  t.equal(made.ca.orders[0]?.replaces, undefined);
  window = ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z'];
  await server.reload();
  await server.logged(
    /CA suggested renewal window: 2020-01-01T00:00:00Z - 2020-01-02T00:00:00Z, see https:\/\/ca\.example\.com\/why for details/,
  );
  await waitFor(() => issued(server) >= 2, { what: () => server.log().slice(-1500) });
  t.equal(made.ca.orders[1]?.replaces, asked[0], 'the order says which certificate it is for');
});

t.test('what the configuration may say', async (t) => {
  const whole = (issuer: string, server = 'acme_certificate ca example.com;', http = 'resolver 127.0.0.1;'): string =>
    httpConf(`${http} acme_issuer ca { ${issuer} } server { listen 127.0.0.1:%%PORT_0%% ssl; server_name example.com ~^a; ${server}
      ssl_certificate $acme_certificate; ssl_certificate_key $acme_certificate_key; }`);
  const uri = 'uri https://ca.example.com/dir; state_path off;';
  const cases: readonly [string, string | undefined, RegExp][] = [
    ['state_path off;', undefined, /acme_issuer: "uri" is missing/],
    [`${uri} challenge ftp;`, undefined, /unsupported challenge: ftp/],
    [`${uri} challenge dns;`, undefined, /the challenge "dns" must have the "exec" parameter/],
    [`${uri} challenge http; challenge http;`, undefined, /"challenge" directive "is duplicate" in/],
    [`${uri} contact '';`, undefined, /"contact" directive "invalid value" in/],
    [`${uri} account_key rsa:1024;`, undefined, /account_key: unsupported key size/],
    [`${uri} account_key none.key;`, undefined, /acme_issuer: cannot load account key/],
    [`${uri} external_account_key kid data:?;`, undefined, /"external_account_key" directive "invalid base64url encoded value" in/],
    [`${uri} external_account_key kid data:abcde;`, undefined, /invalid base64url encoded value/],
    [`${uri} profile a b;`, undefined, /"profile" directive "invalid value" in/],
    [`${uri} nonsense;`, undefined, /unknown directive "nonsense"/],
    [`${uri} contact;`, undefined, /invalid number of arguments in "contact"/],
    [uri, 'acme_certificate other;', /issuer "other" is missing/],
    [uri, 'acme_certificate ca ex*mple.com;', /invalid server name: unexpected character '\*' at position 2/],
    [uri, 'acme_certificate ca key=dsa;', /"acme_certificate" directive invalid "key" value/],
    [uri, `acme_certificate ca '';`, /"acme_certificate" directive invalid value in/],
    [uri, 'include latin1.conf;', /"acme_certificate" directive invalid value in/],
    [uri, 'acme_certificate ca \u00e4.example.com;', /acme_certificate: invalid server name: invalid character c3 at position 0 in/],
    [uri, 'acme_certificate ca; acme_certificate ca;', /"acme_certificate" directive is duplicate/],
  ];
  const files = { 'latin1.conf': Buffer.from('acme_certificate ca a\xff.example.com;', 'latin1') };
  for (const [issuer, server, message] of cases) {
    t.match(await configMessage(t, whole(issuer, server), files), message, `${issuer} ${server}`);
  }
  for (const accepted of [`${uri} uri https://other.example.com/dir;`, `${uri} external_account_key kid data:YWJj-_==;`]) {
    t.equal(await configMessage(t, whole(accepted)), undefined, accepted);
  }
  t.match(await configMessage(t, whole(uri, undefined, '')), /acme_issuer: "resolver" is not configured/);
  t.match(
    await configMessage(t, whole(uri, undefined, 'resolver 127.0.0.1; acme_shared_zone 1m;')),
    /"acme_shared_zone" must have "zone" parameter/,
  );
});

t.test('what status pages tell of certificates', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  await made.ca.goAway();
  const main = 'worker_processes 2;';
  const status = `server { listen 127.0.0.1:%%PORT_0%%; location / { sluice_status; } }`;
  const server = await startServer(t, { conf: conf(made, 'one.example.com', '', status, main) });
  await server.logged('while creating account');
  const report = async (): Promise<object> => JSON.parse((await httpGet(server.port(0), '/')).text).certificates[0];
  t.match(await report(), {
    issuer: 'ca',
    identifiers: ['one.example.com'],
    state: 'failing',
    expires: null,
    error: /directory update failed/,
  });
  await made.ca.comeBack();
  await server.logged('certificate issued');
  t.match(await report(), { state: 'issued', expires: /^\d{4}-/, next_attempt: /^\d{4}-/, fails: 0, error: null });
  const metrics = (await httpGet(server.port(0), '/?format=prometheus')).text;
  t.match(metrics, /^sluice_certificate_not_after_timestamp_seconds\{issuer="ca",identifiers="one\.example\.com"\} \d{10}$/m);
  t.match(metrics, /^sluice_certificate_next_attempt_timestamp_seconds\{.*\} \d{10}$/m);
  const cli = ['status', '-p', `${server.dir}/`, '-c', 'sluice.conf', '-g', `pid ${server.dir}/server.pid;`];
  const { stdout } = await runCli(cli);
  t.match(stdout, /^ {2}\d+ {2}acme process since /m);
  t.match(stdout, /^certificate for one\.example\.com from ca: valid until .* UTC, renewal at .* UTC$/m);
  t.match(JSON.parse((await runCli([...cli, '--json'])).stdout).certificates, [{ issuer: 'ca', state: 'issued' }]);
});

t.test('names by DNS-01, with a program that changes DNS', { skip: noPebble }, async (t) => {
  const made = await scene(t, []);
  // Writes down what it is told, and returns when the test has changed DNS.
  const hook = `#!/bin/sh
    here="\${0%/*}/ca"
    [ -e "$here/../refused" ] && { echo not today >&2; exit 3; }
    echo "$1 $2 $3" >> "$here/hook.log"
    until [ -e "$here/../changed" ]; do sleep 0.05; done
  `;
  const text = conf(made, 'example.com *.example.com', 'challenge dns exec=%%DIR%%/hook;');
  const server = await startServer(t, { conf: text, files: { hook, refused: '' } });
  await server.logged(/\[warn\] .*"\S+\/hook present" (failed \(EACCES\)|exited with code 3: not today) while updating certificate/);
  chmodSync(`${server.dir}/hook`, 0o755);
  await server.reload();
  await server.logged(/\[warn\] .*"\S+\/hook present" exited with code 3: not today while updating certificate/);
  rmSync(`${server.dir}/refused`);
  await server.reload();
  const told = (): RegExpMatchArray[] => [...server.read('ca/hook.log').matchAll(/^(\w+) (\S+) (\S+)$/gm)];
  await waitFor(() => told().length === 2, { what: () => server.log() });
  t.strictSame(
    told().map(([, action, record]) => `${action} ${record}`),
    Array(2).fill('present _acme-challenge.example.com.'),
  );
  made.dns.answer({
    localhost: [{ type: 'A', value: '127.0.0.1' }],
    '_acme-challenge.example.com': told().map(([, , , value = '']) => ({ type: 'TXT', value })),
  });
  await server.write('changed', '');
  const certificate = await certificateOf(server, made.tls, 'any.example.com', await made.ca.root());
  t.same(certificate.subjectAltName?.split(', ').sort(), ['DNS:*.example.com', 'DNS:example.com']);
  t.equal(told().filter(([, action]) => action === 'cleanup').length, 2);
});
