import * as quic from '../../bench/quic.mjs';

/** Many clients of HTTP/3 that have shaken hands and then say nothing: what each takes is little, and all of it comes back. */
export default {
  id: 'F47',
  what: '10,000 idle connections of HTTP/3: memory for each is bounded, others are served, a reload lets them go',
  nginx: false,
  async run(stage, expect) {
    const count = stage.short ? 600 : 10_000;
    await stage.start(`
      ssl_certificate %%DIR%%/tls.crt;
      ssl_certificate_key %%DIR%%/tls.key;
      keepalive_timeout 600s;
      server { listen 127.0.0.1:%%PORT_0%% quic; location / { return 200 ok; } }
      server { listen 127.0.0.1:%%PORT_1%%; location / { stub_status; } }`);
    const port = stage.port(0);
    const row = { name: 'idle-quic', paths: ['/'], http3: { connections: 2, streams: 4 } };
    const active = async () => Number(/Active connections: (\d+)/.exec((await stage.get('/', { port: stage.port(1) })) ?? '')?.[1] ?? -1);
    await quic.check({ port, row, name: stage.server });
    const workers = stage.workers();
    const before = stage.memory();
    const release = await quic.hold(port, row, count);
    const during = stage.memory();
    await stage.until(async () => (await active()) >= count, 'all of them to be counted');
    const { requests, refused, broken } = await quic.load({ port, row, seconds: 1 });
    expect(requests > 0 && refused === 0 && broken === 0, `others: ${requests} answered, ${refused} refused, ${broken} broken`);
    const each = ((during - before) * 1024) / count;
    expect(each < 60, `${Math.round(each)} KB for each`);
    expect(stage.serve(workers), 'a worker died');
    await stage.reload();
    // The old workers take leave of clients that ask for nothing, and end.
    await stage.until(() => stage.processes().length === stage.workerCount + 1, 'the end of the old workers');
    await quic.check({ port, row, name: stage.server });
    release();
    return {
      count,
      requests,
      failed: refused + broken,
      memoryBefore: Math.round(before),
      during: Math.round(during),
      kbEach: Math.round(each),
      after: Math.round(stage.memory()),
    };
  },
};
