import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { makeCertificate } from '../../bench/servers.mjs';
import { clients, usual } from '../stage.mjs';

/** Certificates replaced under handshakes: whole ones are taken over by a reload, half ones are refused, and the old ones go on. */
export default {
  id: 'F21',
  what: 'certificates replaced, also half-way, and reloads under handshakes: nothing is lost, and no half one is ever used',
  alerts: true,
  async run(stage, expect) {
    const swaps = stage.short ? 3 : 20;
    const refused = () => (stage.log().match(/\[emerg\]/g) ?? []).length;
    const [crt, key] = [`${stage.dir}/tls.crt`, `${stage.dir}/tls.key`];
    await stage.start(usual);
    const load = stage.load(
      clients.tls(stage, 2, {
        kind: 'close',
        name: 'handshakes',
        request: 'GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      }),
      clients.tls(stage, 2),
    );
    await load.answered(20);
    let shown = await fingerprint(stage);
    for (let i = 0; i < swaps; i++) {
      // The new key is there, its certificate is not, or half of it.
      const before = refused();
      // As nginx, sluice takes a file of the same second for the same file.
      await sleep(1100);
      const old = readFileSync(crt);
      makeCertificate(stage.dir);
      const whole = readFileSync(crt);
      writeFileSync(crt, i % 2 === 0 ? old : whole.subarray(0, whole.length >> 1));
      stage.signal('HUP');
      await stage.until(() => refused() > before, 'a refusal');
      expect((await fingerprint(stage)) === shown, 'the certificate changed at a refused reload');
      writeFileSync(`${crt}.new`, whole);
      renameSync(`${crt}.new`, crt);
      await stage.reload();
      const now = await fingerprint(stage);
      expect(now !== shown, 'the new certificate is not used');
      shown = now;
    }
    const { answered, failed, why, gap } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(readFileSync(key, 'latin1').includes('PRIVATE KEY'), 'the key is gone');
    return { swaps, answered, failed, why, gap: Math.round(gap) };
  },
};

/** Of the certificate that a new connection is shown. */
function fingerprint(stage) {
  return new Promise((done, fail) => {
    const socket = connect({ port: stage.port(1), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once('error', fail);
  });
}
