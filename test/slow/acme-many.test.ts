import t from 'tap';
import { certificateOf, conf, issued, scene } from '../support/acme-scene.js';
import { noPebble } from '../support/pebble.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('200 names, and a CA that takes a few at a time', { skip: noPebble, timeout: 180_000 }, async (t) => {
  const names = Array.from({ length: 200 }, (_, i) => `n${i}.example.com`);
  const made = await scene(t, names);
  let budget = 60;
  let refused = 0;
  let until = 0;
  let early = 0;
  made.ca.intercept = ({ payload }, answer) => {
    if (typeof payload !== 'object' || payload === null || !('identifiers' in payload)) {
      return false;
    }
    const now = Date.now();
    if (budget-- > 0) {
      early += now < until ? 1 : 0;
      return false;
    }
    // Those that were on their way are refused as well.
    refused++;
    if (now >= until) {
      until = now + 1000;
    }
    if (budget < -8) {
      early++;
    }
    setTimeout(() => (budget = 60), 900);
    answer(429, { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'slow down' }, { 'retry-after': '1' });
    return true;
  };
  const servers = names.map(
    (name) => `server { listen 127.0.0.1:${made.tls} ssl; server_name ${name}; acme_certificate ca;
      ssl_certificate $acme_certificate; ssl_certificate_key $acme_certificate_key; }`,
  );
  const [first = '', ...others] = names;
  const server = await startServer(t, { conf: conf(made, first, '', servers.slice(1).join('\n')) });
  await waitFor(() => issued(server) === 200, { what: () => server.log().slice(-2000), timeout: 150_000 });
  t.equal(made.ca.orders.length, 200, 'each name was ordered once');
  t.ok(refused > 0);
  t.equal(early, 0, 'nobody asks before the CA allows');
  t.ok(await certificateOf(server, made.tls, others.at(-1)!, await made.ca.root()));
});
