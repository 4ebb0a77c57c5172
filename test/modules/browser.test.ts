import t from 'tap';
import { http, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const OPERA_AS_MSIE = 'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; en) Opera 8.0';
const MSIE = 'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0';
const SAFARI = 'Mozilla/5.0 (Macintosh; U; PPC Mac OS X; en) AppleWebKit/418 (KHTML, like Gecko) Safari/417.9.3';
const KONQUEROR = 'Mozilla/5.0 (compatible; Konqueror/3.4; Linux) KHTML/3.4.2 (like Gecko)';

const conf = serverConf(`
  add_header M "$modern_browser"; add_header A "$ancient_browser"; add_header I "$msie";
  location /none { return 200; }
  location /versions { modern_browser msie 5.5; modern_browser gecko 109.0.1; modern_browser SAFARI 417.9; modern_browser konqueror 3.5;
    modern_browser_value new; ancient_browser_value old; return 200; }
  location /opera { modern_browser opera 8; modern_browser msie 7.0; return 200; }
  location /unlisted { modern_browser msie 6.0; modern_browser unlisted; ancient_browser Links Lynx netscape4; return 200; }
  location /inherit { modern_browser unlisted; ancient_browser Lynx;
    location /inherit/same { return 200; }
    location /inherit/own { modern_browser msie 5; ancient_browser Links; return 200; } }`);

t.test('modern and ancient browsers', async (t) => {
  const s = await startServer(t, { conf });
  const cases: readonly (readonly [path: string, agent: string | undefined, modern: string | undefined, ancient: string | undefined])[] = [
    ['/none', FIREFOX, undefined, '1'],
    ['/none', undefined, undefined, '1'],
    ['/versions', MSIE, 'new', undefined],
    ['/versions', FIREFOX, undefined, 'old'],
    ['/versions', SAFARI, 'new', undefined],
    ['/versions', KONQUEROR, undefined, 'old'],
    ['/versions', OPERA_AS_MSIE, undefined, 'old'],
    ['/versions', 'curl/8', undefined, 'old'],
    ['/versions', 'Mozilla/4.0 (compatible; MSIE ', undefined, 'old'],
    ['/opera', OPERA_AS_MSIE, '1', undefined],
    ['/opera', 'Opera/7.50 (X11; FreeBSD i386; U)  [en]', undefined, '1'],
    ['/opera', MSIE, undefined, '1'],
    ['/unlisted', MSIE, '1', undefined],
    ['/unlisted', 'curl/8', '1', undefined],
    ['/unlisted', 'Lynx/2', undefined, '1'],
    ['/unlisted', 'Mozilla/4.72 [en] (X11)', undefined, '1'],
    ['/unlisted', undefined, '1', undefined],
    ['/inherit/same', 'Lynx/2', undefined, '1'],
    ['/inherit/same', 'Links', '1', undefined],
    ['/inherit/own', 'Links', undefined, '1'],
    ['/inherit/own', MSIE, '1', undefined],
  ];
  for (const [path, agent, modern, ancient] of cases) {
    const told = await http(s, requestText('GET', path, agent === undefined ? {} : { 'User-Agent': agent }));
    t.strictSame([told.header('m'), told.header('a')], [modern, ancient], `${path} ${agent}`);
  }
});

t.test('$msie', async (t) => {
  const s = await startServer(t, { conf });
  for (const [agent, msie] of [
    [MSIE, '1'],
    [OPERA_AS_MSIE, undefined],
    [FIREFOX, undefined],
  ] as const) {
    t.equal((await http(s, requestText('GET', '/none', { 'User-Agent': agent }))).header('i'), msie);
  }
});

t.test('malformed lines', async (t) => {
  t.match((await testConfig(t, httpConf('modern_browser lynx 1;'))).stderr, 'unknown browser name "lynx" in ');
  t.match((await testConfig(t, httpConf('modern_browser msie 1a;'))).stderr, 'invalid browser version "1a" in ');
  t.not((await testConfig(t, httpConf('modern_browser anything;'))).code, 0);
});
