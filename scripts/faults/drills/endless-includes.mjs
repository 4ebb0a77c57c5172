import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from '../stage.mjs';

const http = `
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location / { }
    location /ssi/ { ssi on; log_not_found off; }
    location /ssi/e/ { ssi on; log_not_found off; error_page 404 /ssi/404.html; }
  }`;

const twice = (first, second) => `<!--#include virtual="${first}" --><!--#include virtual="${second}" -->${'x'.repeat(1000)}`;

/** Pages that include themselves, for clients that read, that read nothing and that leave: they end, and nobody else waits long. */
export default {
  id: 'F32',
  what: 'pages that include themselves, error pages that include missing files: bounded, others served',
  async run(stage, expect) {
    await stage.start(http);
    const folder = `${stage.dir}/html/ssi`;
    writeFolder(folder);
    const load = stage.load(clients.keepAlive(stage, 4, { pause: 1 }));
    await load.answered(100);
    const before = stage.memory();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, stage.memory())), 100);
    // Two that read nothing, and two that leave at once.
    const silent = [1, 2].map(() => open(stage, '/ssi/self.html').pause());
    for (const socket of [1, 2].map(() => open(stage, '/ssi/self.html'))) {
      socket.once('data', () => socket.destroy());
    }
    const seconds = {};
    for (const path of stage.short ? ['/ssi/e/missing'] : ['/ssi/self.html', '/ssi/e/missing']) {
      const began = Date.now();
      const answer = await stage.get(path, { patience: 120_000 });
      seconds[path] = (Date.now() - began) / 1000;
      expect(answer?.endsWith('\r\n0\r\n\r\n'), `${path} has no end`);
    }
    for (const socket of silent) {
      socket.destroy();
    }
    clearInterval(watch);
    await sleep(100);
    const { answered, failed, why, slowest } = await load.stop();
    expect(peak - before <= 150, `memory grew by ${Math.round(peak - before)} MB`);
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { answered, failed, slowest: Math.round(slowest), seconds, memoryBefore: Math.round(before), memoryPeak: Math.round(peak) };
  },
};

function writeFolder(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/self.html`, twice('/ssi/self.html', '/ssi/self.html'));
  writeFileSync(`${folder}/404.html`, twice('/ssi/e/1', '/ssi/e/2'));
}

function open(stage, path) {
  const socket = connect(stage.port(0), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}
