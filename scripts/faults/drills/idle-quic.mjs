import * as quic from '../../bench/quic.mjs';

/** Many clients of HTTP/3 that have shaken hands and then say nothing: what each takes is little, and all of it comes back. */
export default {
  id: 'F47',
  what: '10,000 idle connections of HTTP/3: memory for each is bounded, others are served, a reload lets them go',
  nginx: false,
  async run(stage, expect) {
    // With fewer, what V8 compiles for the first of them would be most of what is counted for each.
    const count = stage.short ? 1500 : 10_000;
    await stage.start(`
      ssl_certificate %%DIR%%/tls.crt;
      ssl_certificate_key %%DIR%%/tls.key;
      keepalive_timeout 600s;
      server { listen 127.0.0.1:%%PORT_0%% quic; location / { return 200 ok; } }
      server { listen 127.0.0.1:%%PORT_1%%; location / { stub_status; } }`);
    const port = stage.port(0);
    const row = { name: 'idle-quic', paths: ['/'], http3: { connections: 2, streams: 4 } };
    let refused = 0;
    /** Asks until there are answers: on a busy machine a client may give up before it has its first. Returns how many there were. */
    const served = async () => {
      let answered = 0;
      await stage.until(async () => {
        const load = await quic.load({ port, row, seconds: 1 });
        refused += load.refused;
        answered = load.requests;
        return answered > 0;
      }, 'answers');
      return answered;
    };
    const active = async () => Number(/Active connections: (\d+)/.exec((await stage.get('/', { port: stage.port(1) })) ?? '')?.[1] ?? -1);
    await served();
    const workers = stage.workers();
    const before = stage.memory();
    const release = await quic.hold(port, row, count);
    const during = stage.memory();
    await stage.until(async () => (await active()) >= count, 'all of them to be counted');
    const requests = await served();
    const each = ((during - before) * 1024) / count;
    expect(each < 60, `${Math.round(each)} KB for each`);
    expect(stage.serve(workers), 'a worker died');
    await stage.reload();
    // The old workers take leave of clients that ask for nothing, and end.
    await stage.until(() => stage.processes().length === stage.workerCount + 1, 'the end of the old workers');
    await served();
    release();
    expect(refused === 0, `${refused} requests of others were refused`);
    return {
      count,
      requests,
      failed: refused,
      memoryBefore: Math.round(before),
      during: Math.round(during),
      kbEach: Math.round(each),
      after: Math.round(stage.memory()),
    };
  },
};
