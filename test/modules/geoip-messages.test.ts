import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { cityDatabase, countryDatabase, nameDatabase } from '../support/geoip-database.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf } from '../support/server.js';

const FILES = {
  'country.dat': countryDatabase({ '10.0.0.0/8': 1 }),
  'org.dat': nameDatabase({ '10.0.0.0/8': 'Ten' }),
  'city.dat': cityDatabase({ '10.0.0.0/8': { country: 1 } }),
  'registrar.dat': nameDatabase({ '10.0.0.0/8': 'Ten' }, 26),
  'region.dat': countryDatabase({ '10.0.0.0/8': 1 }, 3),
  'old.dat': countryDatabase({ '10.0.0.0/8': 1 }, 106),
  'text.dat': 'This text has as many bytes as count for a database.',
  'short.dat': 'twenty-two bytes, no m',
  'empty.dat': '',
  'folder/file': '',
  'marked.dat': Buffer.from([255, 255, 255]),
  'signed.dat': Buffer.from([...Buffer.alloc(30), 255, 255, 255, 130, 0, 0, 0]),
  'large.dat': Buffer.from([...Buffer.alloc(30), 255, 255, 255, 5, 10, 0, 0]),
  'cut.dat': Buffer.from([...Buffer.alloc(30), 255, 255, 255, 5, 1, 0]),
  'unknown.dat': Buffer.from([...Buffer.alloc(30), 255, 255, 255, 25, 1, 0, 0]),
};

/** What is wrong with lines at the beginning of `http`, which is line 6 of the file. */
const message = async (t: Test, lines: string): Promise<string | undefined> =>
  (await configMessage(t, httpConf(lines), FILES))?.replaceAll(/"\/[^" ]*\/([\w.]*)"/g, '"$1"');

t.test('messages', async (t) => {
  const failed = (file: string): string => `GeoIP_open("${file}") failed in %%FILE%%:6`;
  for (const [lines, expected] of [
    ['geoip_country;', 'invalid number of arguments in "geoip_country" directive in %%FILE%%:6'],
    ['geoip_city a b c;', 'invalid number of arguments in "geoip_city" directive in %%FILE%%:6'],
    ['geoip_proxy;', 'invalid number of arguments in "geoip_proxy" directive in %%FILE%%:6'],
    ['geoip_country %%DIR%%/none.dat;', failed('none.dat')],
    ['geoip_org %%DIR%%/none.dat bad;', failed('none.dat')],
    ['geoip_city %%DIR%%/folder;', failed('folder')],
    ['geoip_country %%DIR%%/empty.dat;', failed('empty.dat')],
    ['geoip_country /dev/zero;', failed('zero')],
    ['geoip_country %%DIR%%/short.dat;', failed('short.dat')],
    ['geoip_country %%DIR%%/marked.dat;', failed('marked.dat')],
    ['geoip_org %%DIR%%/signed.dat;', failed('signed.dat')],
    ['geoip_org %%DIR%%/large.dat;', failed('large.dat')],
    ['geoip_org %%DIR%%/cut.dat;', failed('cut.dat')],
    ['geoip_org %%DIR%%/unknown.dat;', failed('unknown.dat')],
    ['geoip_country %%DIR%%/text.dat;', undefined],
    ['geoip_country %%DIR%%/old.dat;', undefined],
    ['geoip_country %%DIR%%/city.dat;', 'invalid GeoIP database "city.dat" type:2 in %%FILE%%:6'],
    ['geoip_country %%DIR%%/region.dat;', 'invalid GeoIP database "region.dat" type:3 in %%FILE%%:6'],
    ['geoip_org %%DIR%%/country.dat;', 'invalid GeoIP database "country.dat" type:1 in %%FILE%%:6'],
    ['geoip_org %%DIR%%/registrar.dat;', 'invalid GeoIP database "registrar.dat" type:26 in %%FILE%%:6'],
    ['geoip_city %%DIR%%/org.dat;', 'invalid GeoIP City database "org.dat" type:5 in %%FILE%%:6'],
    ['geoip_city %%DIR%%/text.dat;', 'invalid GeoIP City database "text.dat" type:1 in %%FILE%%:6'],
    ['geoip_country %%DIR%%/country.dat utf-8;', 'invalid parameter "utf-8" in %%FILE%%:6'],
    ['geoip_country %%DIR%%/city.dat UTF8;', 'invalid parameter "UTF8" in %%FILE%%:6'],
    ['geoip_country %%DIR%%/country.dat;\ngeoip_country %%DIR%%/none.dat;', '"geoip_country" directive is duplicate in %%FILE%%:7'],
    ['geoip_city %%DIR%%/city.dat;\ngeoip_city %%DIR%%/city.dat;', '"geoip_city" directive is duplicate in %%FILE%%:7'],
    ['geoip_org %%DIR%%/org.dat;\ngeoip_org %%DIR%%/org.dat;', '"geoip_org" directive is duplicate in %%FILE%%:7'],
    ['geoip_proxy 10.0.0.0/33;', 'invalid network "10.0.0.0/33" in %%FILE%%:6'],
    ['geoip_proxy unix:;', 'invalid network "unix:" in %%FILE%%:6'],
    ['geoip_proxy localhost;', 'invalid network "localhost" in %%FILE%%:6'],
    ['geoip_proxy 255.255.255.255; geoip_proxy 2001:db8::/32;', undefined],
    ['geoip_proxy_recursive maybe;', 'invalid value "maybe" in "geoip_proxy_recursive" directive, it must be "on" or "off" in %%FILE%%:6'],
    ['geoip_proxy_recursive on;\ngeoip_proxy_recursive off;', '"geoip_proxy_recursive" directive is duplicate in %%FILE%%:7'],
    ['server { geoip_country x; }', '"geoip_country" directive is not allowed here in %%FILE%%:6'],
    ['server { location / { geoip_proxy 10.0.0.0/8; } }', '"geoip_proxy" directive is not allowed here in %%FILE%%:6'],
    ['geoip_country %%DIR%%/country.dat;\nmap $uri $geoip_city { default x; }', 'the duplicate "geoip_city" variable in %%FILE%%:7'],
    ['geoip_proxy 10.0.0.0/8;\nserver { set $geoip_org x; }', 'the duplicate "geoip_org" variable in %%FILE%%:7'],
  ] as const) {
    t.equal(await message(t, lines), expected, lines);
  }
  const { stderr } = await testConfig(t, httpConf('geoip_proxy 10.1.2.3/8;'));
  t.match(stderr, /\[warn\] low address bits of 10\.1\.2\.3\/8 are meaningless in .*:6$/m);
});

t.test('what sluice says besides', { skip: againstNginx }, async (t) => {
  const stderr = async (lines: string, files = {}): Promise<string> => (await testConfig(t, httpConf(lines), files)).stderr;
  t.match(
    await stderr('geoip_country none.dat;'),
    /hint: 2: No such file or directory; a relative name starts at the folder that the server was/,
  );
  t.match(await stderr('geoip_city %%DIR%%/x;', { x: 'text' }), 'hint: the file is no database of the form GeoIP Legacy');
  const mmdb = Buffer.from(`${'\0'.repeat(100)}\xab\xcd\xefMaxMind.com`, 'latin1');
  const newer = 'the file is of the newer form, GeoIP2 (.mmdb), which neither nginx nor sluice reads';
  t.match(await stderr('geoip_city %%DIR%%/x;', { x: mmdb }), `hint: ${newer}`);
  const warned = await testConfig(t, httpConf('geoip_country %%DIR%%/x;'), { x: mmdb });
  t.equal(warned.code, 0);
  t.match(warned.stderr, new RegExp(`\\[warn\\] no country is found in ".*/x": ${newer.replaceAll(/[().]/g, '.')} in .*:6$`, 'm'));
});

t.test('others have made the variables already', { skip: againstNginx && 'its variables are there before' }, async (t) => {
  for (const line of ['map $uri $geoip_city { default x; }', 'server { set $geoip_city x; }']) {
    t.equal(await message(t, `${line}\ngeoip_country %%DIR%%/country.dat;`), 'the duplicate "geoip_city" variable in %%FILE%%:7', line);
  }
});
