import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients, usual } from '../stage.mjs';

const small = 'GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Floods, one after the other, each with what there is to say of it; good clients are asked for by the drill around them. */
const floods = {
  /** Connections that have had an answer and stay. */
  async idle(stage, expect) {
    // A process opens as many sockets as it may have descriptors.
    const parts = stage.short ? [300] : [10_000, 10_000];
    const before = stage.memory();
    const crowds = parts.map((count) => stage.crowd({ count, request: small }));
    const opened = await Promise.all(crowds.map(({ done }) => done));
    const open = opened.reduce((sum, each) => sum + each.open, 0);
    await sleep(stage.short ? 200 : 3000);
    const memory = Math.round(stage.memory() - before);
    for (const crowd of crowds) {
      crowd.end();
    }
    const wanted = parts.reduce((sum, count) => sum + count, 0);
    expect(open === wanted, `idle: ${open} of ${wanted} connections stand`);
    return { open, memory };
  },
  /** Connections that are reset as soon as they stand. */
  async churn(stage) {
    const crowd = stage.crowd({ count: stage.short ? 500 : 20_000, reset: true });
    const { open } = await crowd.done;
    crowd.end();
    return { reset: open };
  },
  /** Ten gigabytes for a server that takes one megabyte, with and without its length said before. */
  async upload(stage, expect) {
    const taken = [];
    for (const framing of ['Content-Length: 10737418240', 'Transfer-Encoding: chunked']) {
      const { status, sent } = await pour(stage, `POST /limited HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`);
      expect(status === '413', `upload: status ${status}`);
      taken.push(Math.round(sent / 1024 / 1024));
    }
    return { megabytesTaken: taken };
  },
  /** A body without end that is compressed on its way: for clients that read all, and for some that read nothing. */
  async gzip(stage) {
    const before = stage.memory();
    let bytes = 0;
    const sockets = Array.from({ length: stage.short ? 4 : 16 }, (_, i) => {
      const socket = connect(stage.port(0), '127.0.0.1');
      socket.on('error', () => {});
      if (i % 2 === 0) {
        socket.on('data', (chunk) => (bytes += chunk.length));
      } else {
        socket.pause();
      }
      socket.write('GET /zipped/endless HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n');
      return socket;
    });
    await sleep(stage.short ? 500 : 10_000);
    const memory = Math.round(stage.memory() - before);
    for (const socket of sockets) {
      socket.destroy();
    }
    return { megabytesRead: Math.round(bytes / 1024 / 1024), memory };
  },
};

/**
 * Sends bytes until the server has answered and will not take more. Chunks are framed as such, which a stream of known length may
 * be, too.
 */
async function pour(stage, head) {
  const chunk = Buffer.from(`10000\r\n${'u'.repeat(0x10000)}\r\n`);
  return new Promise((done) => {
    let text = '';
    const socket = connect(stage.port(0), '127.0.0.1');
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
    };
    socket.on('drain', more);
    socket.on('error', () => {});
    socket.on('data', (bytes) => (text += bytes.latin1Slice()));
    socket.on('close', () => done({ status: text.slice(9, 12), sent: socket.bytesWritten }));
    socket.setTimeout(20_000, () => socket.destroy());
    socket.write(head);
    more();
  });
}

/** Whatever comes in masses: good clients are answered within a second throughout, memory is bounded, and all is as before after it. */
export default {
  id: 'F27',
  what: 'idle connections, churn, uploads past the limit, compressed output without end: good clients are answered within a second',
  async run(stage, expect) {
    await stage.start(`
      ${usual.replace(
        'location /upload',
        `location /limited { client_max_body_size 1m; proxy_pass http://origin; }
         location /zipped/ { gzip on; gzip_types *; proxy_pass http://origin/; }
         location /upload`,
      )}`);
    const before = stage.memory();
    const workers = stage.workers();
    const figures = {};
    for (const [name, flood] of Object.entries(floods)) {
      const load = stage.load(clients.close(stage, 1, { pause: 50 }), clients.keepAlive(stage, 1, { pause: 50 }));
      await load.answered(10);
      const found = await flood(stage, expect);
      const { answered, failed, why, slowest } = await load.stop();
      expect(failed === 0 && answered > 0, `${name}: ${failed} of ${answered} good requests failed: ${JSON.stringify(why)}`);
      expect(stage.short || slowest < 1000, `${name}: a good request took ${Math.round(slowest)} ms`);
      figures[name] = { ...found, answered, failed, slowest: Math.round(slowest) };
    }
    const memory = stage.memory();
    expect(memory < before + 300, `memory grew from ${before} to ${memory} MB`);
    expect(stage.serve(workers), 'a worker died');
    return { ...figures, memoryBefore: Math.round(before), memoryAfter: Math.round(memory) };
  },
};
