import { clients } from '../stage.mjs';

const LEVELS = [16, 18, 20, 22, 24];

const nested = (levels, open, close) => `${open.repeat(levels)}a${close.repeat(levels)}`;

const http = `
  server {
    listen 127.0.0.1:%%PORT_0%%;
    ${LEVELS.map(
      (levels) => `
    location ~ "^/loop${levels}/${nested(levels, '(', '+)+')}$" { return 200 matched; }
    location ~ "^/any${levels}/${nested(levels, '(?:', ')*')}$" { return 200 matched; }
    location ~ "^/behind${levels}/a(?<=${nested(levels, '(?:', '|b)')})$" { return 200 matched; }`,
    ).join('')}
    location / { }
  }`;

/** Patterns whose quantifiers are nested many levels deep: the first request, for which they are analysed, holds nobody up. */
export default {
  id: 'F36',
  what: 'quantifiers nested 16 to 24 levels deep: the first request for each holds nobody up',
  async run(stage, expect) {
    await stage.start(http);
    const load = stage.load(clients.keepAlive(stage, 4, { pause: 1 }));
    await load.answered(100);
    let slowestFirst = 0;
    for (const levels of LEVELS) {
      for (const path of [`/loop${levels}/aaaa`, `/any${levels}/aaaa`, `/behind${levels}/a`]) {
        const begun = performance.now();
        const answer = await stage.get(path, { patience: 30_000 });
        slowestFirst = Math.max(slowestFirst, performance.now() - begun);
        // nginx gives up where its matcher needs too many steps.
        expect(/^HTTP\/1\.1 (?:200|500)/.test(answer ?? ''), `${path}: ${answer?.slice(9, 12) ?? 'no answer'}`);
      }
    }
    const { answered, failed, why, slowest } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(stage.short || slowest < 2000, `a good request took ${Math.round(slowest)} ms`);
    return { answered, failed, slowestFirst: Math.round(slowestFirst), slowest: Math.round(slowest) };
  },
};
