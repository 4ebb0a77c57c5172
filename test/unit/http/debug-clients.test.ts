import t from 'tap';
import { DebugClients, parseNetwork } from '../../../src/worker/http/debug-clients.js';

t.test('addresses and networks', async (t) => {
  t.same(parseNetwork('127.0.0.1'), { address: '127.0.0.1', bits: 32, exact: true });
  t.same(parseNetwork('192.0.2.0/24'), { address: '192.0.2.0', bits: 24, exact: true });
  t.match(parseNetwork('192.0.2.1/24'), { bits: 24, exact: false });
  t.match(parseNetwork('0.0.0.0/0'), { bits: 0, exact: true });
  t.match(parseNetwork('::1'), { bits: 128, exact: true });
  t.match(parseNetwork('2001:db8::/32'), { bits: 32, exact: true });
  t.match(parseNetwork('2001:db8:0:1::/48'), { exact: false });
  t.match(parseNetwork('1:2:3:4:5:6:7:8/127'), { exact: true });
  t.match(parseNetwork('1:2:3:4:5:6:7:9/127'), { exact: false });
  t.match(parseNetwork('::ffff:192.0.2.0/120'), { exact: true });
  t.match(parseNetwork('::ffff:192.0.2.1/120'), { exact: false });
  for (const text of ['localhost', '127.0.0.1/33', '::1/129', '127.0.0.1/', '127.0.0.1/x', '1.2.3/8', '']) {
    t.equal(parseNetwork(text), undefined, text);
  }
});

t.test('clients', async (t) => {
  const clients = new DebugClients([
    { kind: 'network', address: '192.0.2.9', bits: 24 },
    { kind: 'network', address: '2001:db8::', bits: 32 },
    { kind: 'host', ref: { addresses: ['127.0.0.1', '::1'] } },
  ]);
  for (const address of ['192.0.2.200', '2001:db8:ffff::1', '127.0.0.1', '::1']) {
    t.ok(clients.match(address), address);
  }
  for (const address of ['192.0.3.1', '2001:db9::1', '127.0.0.2', 'unix:']) {
    t.notOk(clients.match(address), address);
  }
  t.ok(new DebugClients([{ kind: 'unix' }]).match('unix:'));
  t.notOk(new DebugClients([{ kind: 'unix' }]).match('127.0.0.1'));
});
