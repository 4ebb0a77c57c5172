import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { certificateOf, conf, isCertificate, issued, scene, shown, stateOf } from '../support/acme-scene.js';
import { noPebble } from '../support/pebble.js';
import { httpGet } from '../support/raw-client.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { fileHarms, insideHarms, zoneFiles } from '../support/zone-harm.js';

t.test('faults of the CA', { skip: noPebble }, async (t) => {
  t.test('500, then 429 with Retry-After', async (t) => {
    const made = await scene(t, ['one.example.com']);
    const faults = [
      [500, { type: 'urn:ietf:params:acme:error:serverInternal', detail: 'out of order' }],
      [429, { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too\nmany' }, { 'retry-after': '2' }],
    ] as const;
    const left = [...faults];
    made.ca.intercept = ({ payload }, answer) => {
      const fault = typeof payload === 'object' && payload !== null && 'identifiers' in payload ? left.shift() : undefined;
      if (fault !== undefined) {
        answer(...(fault as [number, object, object]));
      }
      return fault !== undefined;
    };
    const server = await startServer(t, { conf: conf(made, 'one.example.com') });
    await server.logged(
      /\[warn\] .*serverInternal: out of order while updating certificate, next attempt at .*, acme issuer: "ca", order: "one/,
    );
    await server.logged(/\[warn\] .*rateLimited: too many while updating certificate, next attempt at /);
    t.ok(await certificateOf(server, made.tls, 'one.example.com', await made.ca.root()));
  });

  t.test('a certificate for somebody else', async (t) => {
    const made = await scene(t, ['one.example.com'], { validity: 8 });
    const server = await startServer(t, { conf: conf(made, 'one.example.com') });
    const root = await made.ca.root();
    const { serialNumber } = await certificateOf(server, made.tls, 'one.example.com', root);
    let sent = 0;
    made.ca.intercept = ({ path }, answer) => {
      if (path.startsWith('/certZ/')) {
        sent++;
        answer(200, root, { 'content-type': 'application/pem-certificate-chain' });
      }
      return path.startsWith('/certZ/');
    };
    await server.logged(/\[warn\] .*the certificate that the CA sent is for another key while updating certificate/);
    t.ok(sent > 0);
    t.equal((await certificateOf(server, made.tls, 'one.example.com')).serialNumber, serialNumber, 'what works stays');
  });

  t.test('a CA that names what nobody has ordered', async (t) => {
    const made = await scene(t, ['one.example.com']);
    const hook = `${t.testdir({ hook: '#!/bin/sh\necho "$@" >> "$0.log"\n' })}/hook`;
    chmodSync(hook, 0o755);
    const challenge = { type: 'dns-01', url: `${made.ca.directory}/chalZ/x`, status: 'pending', token: 'abc' };
    const identifier = { type: 'dns', value: 'bank.example. $(id)' };
    made.ca.intercept = ({ path }, answer) => {
      const asked = path.startsWith('/authZ/');
      if (asked) {
        answer(200, { status: 'pending', identifier, challenges: [challenge] });
      }
      return asked;
    };
    const server = await startServer(t, { conf: conf(made, 'one.example.com', `challenge dns exec=${hook};`) });
    await server.logged('the CA wants "bank.example. $(id)" validated, which was not ordered while updating certificate');
    t.notOk(existsSync(`${hook}.log`), 'no program hears of it');
  });

  t.test('a CA whose token is none, or whose name is another one', async (t) => {
    for (const [challenge, type] of [
      ['http', 'http-01'],
      ['tls-alpn', 'tls-alpn-01'],
    ] as const) {
      const made = await scene(t, ['one.example.com']);
      let bad: { readonly token: unknown; readonly value: string } = { token: '../../%2e%2e/x y', value: 'one.example.com' };
      made.ca.intercept = ({ path }, answer) => {
        const asked = path.startsWith('/authZ/');
        if (asked) {
          const { token, value } = bad;
          answer(200, {
            status: 'pending',
            identifier: { type: 'dns', value },
            challenges: [{ type, url: `${made.ca.directory}/chalZ/x`, status: 'pending', token }],
          });
        }
        return asked;
      };
      const server = await startServer(t, { conf: conf(made, 'one.example.com', `challenge ${challenge};`) });
      await server.logged('the CA sent an invalid token "../../%2e%2e/x y" while updating certificate');
      bad = { token: 'abc', value: 'bank.example' };
      await server.reload();
      await server.logged('the CA wants "bank.example" validated, which was not ordered while updating certificate');
      t.notOk(
        made.ca.requests.some((request) => request.includes('/chalZ/')),
        `${challenge}: the CA is not told that an answer is there`,
      );
      await server.stop();
    }
  });

  t.test('a name that the CA cannot validate', async (t) => {
    const made = await scene(t, []);
    const server = await startServer(t, { conf: conf(made, 'one.example.com') });
    await server.logged(/\[warn\] .*for "one\.example\.com" while updating certificate, next attempt at /);
  });
});

t.test('an order goes on after all processes were killed', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  let finalized = 0;
  let dead = true;
  made.ca.intercept = ({ path }) => {
    if (path.startsWith('/finalize-order/')) {
      finalized++;
      // No answer comes.
      return dead;
    }
    return false;
  };
  const server = await startServer(t, { conf: conf(made, 'one.example.com') });
  await waitFor(() => finalized === 1, { what: () => server.log().slice(-1500) });
  for (const pid of [server.pid, ...server.workers()]) {
    process.kill(pid, 'SIGKILL');
  }
  dead = false;
  await server.start();
  t.ok(await certificateOf(server, made.tls, 'one.example.com', await made.ca.root()));
  t.equal(made.ca.orders.length, 1, 'it is still the first order');
  t.notOk(stateOf(server).some((name) => name.endsWith('.order')));
});

t.test('a new certificate that was stored by half', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  const server = await startServer(t, { conf: conf(made, 'one.example.com') });
  const root = await made.ca.root();
  const { serialNumber } = await certificateOf(server, made.tls, 'one.example.com', root);
  await server.stop();
  const certificate = stateOf(server).find((name) => name.endsWith('.crt'))!;
  // As if the process had ended after the first of two renames: the old certificate is beside the new key.
  const text = readFileSync(`${server.dir}/ca/${certificate}`);
  await server.write(`ca/${certificate}.new`, text);
  await server.write(`ca/${certificate}`, root);
  await made.ca.goAway();
  await server.start();
  t.equal((await certificateOf(server, made.tls, 'one.example.com', root)).serialNumber, serialNumber);
});

const noFaketime = spawnSync('faketime', ['--version']).error !== undefined && 'no faketime';

t.test('a clock that is set forward by more than 60 days', { skip: noPebble || noFaketime }, async (t) => {
  const made = await scene(t, ['one.example.com'], { validity: 90 * 24 * 3600 });
  const clock = `${t.testdir({ clock: '+0d' })}/clock`;
  const env = {
    LD_PRELOAD: faketimeLibrary(),
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  // The certificate of the CA's own server is not valid for so long.
  const kept = Object.keys(env).map((name) => `env ${name};`);
  const server = await startServer(t, { conf: conf(made, 'one.example.com', 'ssl_verify off;', '', kept.join(' ')), env, asRoot: true });
  const first = await certificateOf(server, made.tls, 'one.example.com', await made.ca.root());
  await waitFor(() => issued(server) === 1, { what: () => server.log().slice(-1500) });
  // Two thirds of a lifetime, and what is added to keep renewals apart.
  writeFileSync(clock, '+75d');
  await waitFor(() => issued(server) === 2, { what: () => server.log().slice(-1500), timeout: 90_000 });
  t.not((await certificateOf(server, made.tls, 'one.example.com', await made.ca.root())).serialNumber, first.serialNumber);
});

/** What the command puts before a program. */
function faketimeLibrary(): string {
  return /LD_PRELOAD=(\S+)/.exec(execFileSync('faketime', ['-f', '+0d', 'env'], { encoding: 'utf8' }))![1]!;
}

t.test('a zone that comes to harm costs no certificate, and renewals reach the workers', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com'], { validity: 6 });
  const server = await startServer(t, {
    conf: conf(
      made,
      'one.example.com',
      '',
      'server { listen 127.0.0.1:%%PORT_0%%; location / { sluice_status; } }',
      'worker_processes 2; zone_directory %%DIR%%/zones;',
    ),
    asRoot: true,
    expectAlerts: /zone "[^"]+"/,
  });
  await certificateOf(server, made.tls, 'one.example.com', await made.ca.root());
  const [run] = readdirSync(`${server.dir}/zones`).map((name) => `${server.dir}/zones/${name}`);
  const harm = (act: (path: string) => void): void => zoneFiles(run!, 'ngx_acme_shared').forEach(act);
  const shake = () => Promise.all(Array.from({ length: 8 }, () => shown(made.tls, 'one.example.com')));
  // A worker that has not seen it yet has nothing to keep.
  await waitFor(async () => (await shake()).every(isCertificate), { what: 'all workers to have a certificate' });
  const serials = async (what: string): Promise<string[]> => {
    const found = await shake();
    t.ok(found.every(isCertificate), what);
    t.equal((await httpGet(server, '/')).status, 200, what);
    return found.map((certificate) => (isCertificate(certificate) ? certificate.serialNumber : ''));
  };
  const { 'bytes of odd length': odd, 'no rows': none } = insideHarms;
  for (const [what, act] of Object.entries({ ...fileHarms, odd, none })) {
    harm(act!);
    await serials(what);
    const before = issued(server);
    // What a worker has found itself is one thing; the renewal that it is told of is in the file of the process that wrote it.
    // An attempt that the CA refuses, since a worker is without the zone for a moment, is made again after a minute.
    await waitFor(() => issued(server) > before, { what: () => `${what}: a renewal ${server.log().slice(-1500)}`, timeout: 90_000 });
    await waitFor(async () => new Set(await serials(`${what}: renewed`)).size === 1, { what: `${what}: all workers have one certificate` });
  }
  const reloading = server.reload();
  harm(fileHarms.overwritten!);
  await reloading;
  await serials('after a reload');
  t.notMatch(server.log(), /exited on signal|exited with (fatal )?code [1-9]|exception/, 'no process has ended');
});

t.test('an answer that a zone lost while the CA looked for it costs no attempt', { skip: noPebble }, async (t) => {
  for (const challenge of ['http', 'tls-alpn']) {
    await t.test(challenge, async (t) => {
      const made = await scene(t, ['one.example.com']);
      const zones = t.testdir({});
      let asked = 0;
      made.ca.intercept = ({ path }) => {
        if (path.startsWith('/chalZ/') && asked++ === 0) {
          const [run] = readdirSync(zones);
          zoneFiles(`${zones}/${run}`, 'ngx_acme_shared').forEach(fileHarms.overwritten!);
        }
        return false;
      };
      const server = await startServer(t, {
        conf: conf(made, 'one.example.com', `challenge ${challenge};`, '', `worker_processes 2; zone_directory ${zones};`),
        asRoot: true,
        expectAlerts: /zone "[^"]+"/,
      });
      t.ok(await certificateOf(server, made.tls, 'one.example.com', await made.ca.root()));
      t.ok(asked > 0, 'the zone was harmed');
      t.notMatch(server.log(), 'next attempt');
    });
  }
});

t.test('one process that does it all', { skip: noPebble }, async (t) => {
  const made = await scene(t, ['one.example.com']);
  const server = await startServer(t, { conf: conf(made, 'one.example.com', '', '', 'master_process off;') });
  const { serialNumber } = await certificateOf(server, made.tls, 'one.example.com', await made.ca.root());
  server.signal('HUP');
  await server.logged('reconfiguring');
  t.equal((await certificateOf(server, made.tls, 'one.example.com', await made.ca.root())).serialNumber, serialNumber);
  t.equal(made.ca.orders.length, 1);
});
