import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { canRunImages, imageSettings, runImage } from '../support/image.js';

const dockerfile = new URL('../../packaging/docker/Dockerfile', import.meta.url).pathname;
const skip = (againstNginx && 'ours') || (!canRunImages() && 'this machine lets nobody make file systems');

const FETCH = `const r = await fetch(process.argv[1]); console.log(r.status, await r.text());`;

for (const [stage, port] of [
  ['rootless', 8080],
  [undefined, 80],
] as const) {
  t.test(`the image ${stage ?? 'as it comes'} serves, with a root file system that is read-only`, { skip }, async (t) => {
    const { stop, health } = imageSettings(dockerfile, stage);
    const container = runImage(t, dockerfile, stage, ['/run/sluice', '/var/cache/sluice']);
    await container.until(/using the "\w+" network engine/);
    t.match(await container.run('node', '--input-type=module', '-e', FETCH, `http://127.0.0.1:${port}/`), {
      code: 0,
      said: /^200 [\s\S]*sluice/,
    });
    await container.until(/^127\.0\.0\.1 - - \[[^\]]*\] "GET \/ HTTP\/1\.1" 200 /m);
    const healthy = await container.run(...health);
    t.match(healthy, { code: 0, said: /^sluice runs as process 1 since/ });
    const owner = (await container.run('stat', '-c', '%u', '/proc/1')).said;
    t.equal(owner, stage === 'rootless' ? '10001\n' : '0\n');
    t.match(await container.run('touch', '/etc/sluice/x'), { code: 1, said: /Read-only file system/ });
    t.notMatch(container.said(), /\[(warn|error|crit|alert|emerg)\]/);
    t.equal(stop, 'SIGQUIT');
    t.equal(await container.stop(stop), 0);
  });
}
