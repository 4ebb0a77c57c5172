import t from 'tap';
import { parseCidr } from '../../../src/worker/address/cidr.js';
import { DebugClients } from '../../../src/worker/connections/debug-clients.js';

t.test('clients', async (t) => {
  const clients = new DebugClients([parseCidr('192.0.2.9/24')!, parseCidr('2001:db8::/32')!, { addresses: ['127.0.0.1', '::1'] }]);
  for (const address of ['192.0.2.200', '2001:db8:ffff::1', '127.0.0.1', '::1', '::ffff:192.0.2.1']) {
    t.ok(clients.match(address), address);
  }
  for (const address of ['192.0.3.1', '2001:db9::1', '127.0.0.2', 'unix:', '']) {
    t.notOk(clients.match(address), address);
  }
  t.ok(new DebugClients(['unix']).match('unix:'));
  t.notOk(new DebugClients(['unix']).match('127.0.0.1'));
});
