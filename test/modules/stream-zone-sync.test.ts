import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { testConfig } from '../support/run-cli.js';
import { streamConf } from '../support/server.js';

t.test("NGINX Plus's zone_sync is understood, with a warning", { skip: againstNginx }, async (t) => {
  const { stderr, code } = await testConfig(
    t,
    streamConf(`zone_sync_interval 2s;
    server { listen 127.0.0.1:%%PORT_0%%; zone_sync; zone_sync_server 127.0.0.1:9000 resolve; zone_sync_ssl on; }`),
  );
  t.equal(code, 0, stderr);
  t.match(stderr, '"zone_sync" has no effect: what zones with "sync" have is shared by the store of "shared_store"');
});
