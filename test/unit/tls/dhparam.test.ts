import { execFileSync } from 'node:child_process';
import t from 'tap';
import { certs } from '../../support/certs.js';
import { configMessage } from '../../support/config-message.js';
import { serverConf } from '../../support/server.js';

t.test('parameters in both of the forms that OpenSSL writes', async (t) => {
  const args = ['genpkey', '-genparam', '-algorithm', 'DHX', '-pkeyopt', 'dh_rfc5114:2'];
  const x942 = execFileSync('openssl', args, { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
  t.match(x942, 'BEGIN X9.42 DH PARAMETERS');
  const { cert, key } = certs().rsa;
  const conf = serverConf(`ssl_certificate ${cert}; ssl_certificate_key ${key}; ssl_dhparam dh.pem;`).replace(
    '%%PORT_0%%',
    '%%PORT_0%% ssl',
  );
  t.equal(await configMessage(t, conf, { 'dh.pem': x942 }), undefined);
  t.match(await configMessage(t, conf, { 'dh.pem': 'nothing' }), 'PEM_read_bio_DHparams("');
});
