import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { clients, usual } from '../stage.mjs';

/**
 * A full disk under zone files and temporary files: what needs no disk is answered, what does is refused, and all is well once there
 * is room.
 */
export default {
  id: 'F29',
  what: 'the disk under zone files and temporary files is full: only what must be stored fails',
  alerts: true,
  needs(stage) {
    mkdirSync(`${stage.dir}/disk`);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=777', 'tmpfs', `${stage.dir}/disk`]).status === 0;
    return mounted ? undefined : 'no right to mount a small tmpfs';
  },
  cleanUp(stage) {
    spawnSync('umount', ['-l', `${stage.dir}/disk`]);
  },
  async run(stage, expect) {
    await stage.start(
      `limit_req_zone $request_id zone=rate:1m rate=1000000r/s;
       limit_conn_zone $binary_remote_addr zone=count:1m;
       ${usual.replace('location /upload', 'client_body_temp_path %%DIR%%/disk/body; limit_req zone=rate; limit_conn count 1000; location /upload')}`,
      stage.sluice ? 'zone_directory %%DIR%%/disk/zones;' : '',
    );
    const workers = stage.workers();
    const count = stage.short ? 300 : 10_000;
    const load = stage.load(
      clients.keepAlive(stage, 4),
      clients.close(stage, 2),
      clients.proxied(stage, 4),
      clients.tls(stage, 2),
      clients.upload(stage, 2, { status: [200, 500], pause: 5 }),
    );
    await load.answered(count);
    fill(`${stage.dir}/disk/ballast`);
    await load.answered((await load.report()).answered + count);
    // An upload that had found room before has given it back.
    fill(`${stage.dir}/disk/ballast`);
    const refused = await stage.raw(
      `POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n${'u'.repeat(300_000)}`,
    );
    rmSync(`${stage.dir}/disk/ballast`);
    const { answered, failed, why, slowest } = await load.stop();
    const after = stage.load(clients.upload(stage, 2, { pause: 5 }), clients.keepAlive(stage, 4));
    await after.answered(count);
    const later = await after.stop();
    expect(refused?.startsWith('HTTP/1.1 500'), `an upload with no room was answered ${refused?.slice(0, 40)}`);
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(later.failed === 0, `${later.failed} requests failed afterwards: ${JSON.stringify(later.why)}`);
    expect(stage.serve(workers), 'a worker died');
    return { answered, failed, slowest: Math.round(slowest), afterwards: later.answered };
  },
};

/** Writes until there is no room left, behind what was written before. */
function fill(file) {
  const fd = openSync(file, 'a');
  try {
    for (let piece = 65_536; piece >= 1; ) {
      try {
        writeSync(fd, Buffer.alloc(piece));
      } catch {
        piece >>= 4;
      }
    }
  } finally {
    closeSync(fd);
  }
}
