import { hash, X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { keyFile } from '../support/fleet-keys.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;
const LEADS = 'this machine gets certificates for the fleet "fleet"';

const conf = (redis: Redis, node: string, key: string): string =>
  httpConf(
    `acme_shared_zone zone=acme:1m sync;
    server { listen 127.0.0.1:%%PORT_0%% ssl; server_name app.internal; https internal redirect=off; return 200 inside; }`,
    `shared_store fleet { server 127.0.0.1:${redis.port}; timeout 10s; node ${node}; encryption_key_file ${key}; }`,
  );

const rootOf = (s: Server): string => s.read('acme_internal/root.crt');

/** A handshake with a server whose certificate a root has to vouch for; undefined where it does not, or there is none yet. */
const shake = (s: Server, ca: string): Promise<TLSSocket | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: s.port(0), servername: 'app.internal', ca });
    socket.on('secureConnect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });

/** The serial number of the certificate that a server shows to who trusts a root. */
async function serial(s: Server, ca: () => string): Promise<string> {
  const socket = await waitFor(() => (ca() === '' ? undefined : shake(s, ca())), {
    what: () => `a certificate\n${s.log().slice(-1500)}`,
    timeout: 90_000,
  });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

const digest = (text: string): string => hash('sha256', new X509Certificate(text).raw);

t.test('machines of a fleet have one root of https internal', { skip }, async (t) => {
  const redis = await startRedis(t);
  const key = keyFile(t);
  const leader = await startServer(t, { conf: conf(redis, 'a', key) });
  await leader.logged(LEADS);
  const first = await serial(leader, () => rootOf(leader));
  const other = await startServer(t, { conf: conf(redis, 'b', key) });
  t.equal(await serial(other, () => rootOf(leader)), first, 'who trusts one machine trusts the other, which has the same certificate');
  await waitFor(() => rootOf(other) !== '', { what: 'the root in the folder of the other machine' });
  t.equal(digest(rootOf(other)), digest(rootOf(leader)), 'the root is kept at both, for `sluice trust`');
  t.notMatch(other.log(), LEADS);

  // Nothing of it can be read in the store.
  const all =
    (await redis.ask('HGETALL', 'sluice:{fleet}:acme:pairs')) + (await redis.ask('XRANGE', 'sluice:{fleet}:acme:changes', '-', '+'));
  t.match(all, 'internal');
  t.notMatch(all, /PRIVATE|CERTIFICATE/);

  // The machine that made the root is gone for good, and the store has lost everything: the root lives on.
  await leader.stop();
  const root = rootOf(leader);
  await redis.kill();
  await other.logged('shared store "fleet" is lost');
  t.equal(await serial(other, () => root), first, 'without the store');
  await redis.start();
  await other.logged(LEADS);
  await waitFor(async () => (await redis.ask('HGETALL', 'sluice:{fleet}:acme:pairs')).includes('internal'), {
    what: 'the store to have it again',
  });
  const third = await startServer(t, { conf: conf(redis, 'c', key) });
  t.equal(await serial(third, () => root), first, 'a machine that comes later has the same root');
  await waitFor(() => rootOf(third) !== '', { what: 'the root of the third machine' });
  t.equal(digest(rootOf(third)), digest(root));

  // One that is started anew without the store, with what is in its folder.
  await redis.kill();
  await third.stop();
  await third.start();
  t.equal(await serial(third, () => root), first);
});
