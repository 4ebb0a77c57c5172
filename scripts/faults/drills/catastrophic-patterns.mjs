import { clients } from '../stage.mjs';

const http = `
  map $arg_m $mapped { default no; ~^(a|aa)+$ yes; }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location ~ ^/l/(a+)+$ { return 200 matched; }
    location /w/ { rewrite "^/w/(.*a){25}$" /small; return 200 rewritten; }
    location /i/ { if ($uri ~ "^/i/([a-z]+)*$") { return 200 yes; } return 200 no; }
    location /m/ { return 200 $mapped; }
    location / { }
  }`;

/** Regular expressions that backtrack without end: nobody else waits long. */
export default {
  id: 'F13',
  what: 'catastrophic regular expressions in location, map, rewrite and if: others do not wait',
  async run(stage, expect) {
    await stage.start(http);
    const load = stage.load(clients.keepAlive(stage, 4, { pause: 1 }));
    await load.answered(100);
    const long = 'a'.repeat(stage.short ? 2000 : 6000);
    const statuses = {};
    for (const path of [`/l/${long}!`, `/w/${long}`, `/i/${long}!`, `/m/?m=${long}b`, `/l/${'a'.repeat(60)}!`]) {
      const answer = await stage.get(path);
      const name = path.slice(0, 3);
      statuses[name] = answer?.slice(9, 12) ?? 'none';
      expect(/^(?:200|404|414|500)$/.test(statuses[name]), `${name}: ${statuses[name]}`);
    }
    const { answered, failed, why, slowest } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { answered, failed, statuses, slowest: Math.round(slowest) };
  },
};
