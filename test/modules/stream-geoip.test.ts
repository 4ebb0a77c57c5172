import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { cityDatabase, countryDatabase, EDITION, nameDatabase, SAN_JOSE } from '../support/geoip-database.js';
import { exchange, RawClient } from '../support/raw-client.js';
import { type Server, startServer, streamConf } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

const [GERMANY, US, CANADA] = [56, 225, 38];
const LINES = 'geoip_country %%DIR%%/country.dat; geoip_city %%DIR%%/city.dat; geoip_org %%DIR%%/org.dat;';
const CITY =
  '$geoip_city_continent_code|$geoip_city_country_code|$geoip_city_country_code3|$geoip_city_country_name|$geoip_region|$geoip_region_name' +
  '|$geoip_city|$geoip_postal_code|$geoip_latitude|$geoip_longitude|$geoip_dma_code|$geoip_area_code';
const ALL = `$geoip_country_code|$geoip_country_code3|$geoip_country_name|$geoip_org|${CITY}`;
const REAL = 'set_real_ip_from 127.0.0.1;';

const COUNTRIES = { '10.0.0.0/8': US, '10.1.0.0/16': GERMANY };
const NAMES = { '10.0.0.0/8': 'T\xe9n' };
const PLACES = {
  '10.0.0.0/8': SAN_JOSE,
};

/** What a session is told whose client has an address. */
const from = (s: Server, address: string, port = 0): Promise<string> => {
  const [family, server] = address.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
  return exchange(s.port(port), `PROXY ${family} ${address} ${server} 1000 2000\r\n`);
};

t.test('countries, cities and organizations', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`${LINES} server { listen 127.0.0.1:%%PORT_0%% proxy_protocol; ${REAL} return "${ALL}"; }`),
    files: { 'country.dat': countryDatabase(COUNTRIES), 'city.dat': cityDatabase(PLACES), 'org.dat': nameDatabase(NAMES) },
  });
  const city = 'NA|US|USA|United States|CA|California|San Jos\xe9|95110|37.3394|-121.8950|807|408';
  t.equal(await from(s, '10.9.0.1'), `US|USA|United States|T\xe9n|${city}`);
  t.equal(await from(s, '10.1.0.1'), `DE|DEU|Germany|T\xe9n|${city}`);
  t.equal(await from(s, '11.0.0.1'), '|'.repeat(15));
  t.equal(await from(s, '::ffff:10.9.0.1'), `US|USA|United States|T\xe9n|${city}`);
  t.equal(await from(s, '2001:db8::1'), '|'.repeat(15));
});

t.test('IPv6, UTF-8, a map of backends, the log', async (t) => {
  const here = await startTcpBackend(t, (socket) => socket.end('here'));
  const there = await startTcpBackend(t, (socket) => socket.end('there'));
  const s = await startServer(t, {
    conf: streamConf(
      `geoip_country %%DIR%%/country.dat; geoip_city %%DIR%%/city.dat utf8; geoip_org %%DIR%%/org.dat utf8;
      map $geoip_country_code $backend { default 127.0.0.1:${here.port}; CA 127.0.0.1:${there.port}; }
      server { listen 127.0.0.1:%%PORT_0%% proxy_protocol; ${REAL} proxy_pass $backend; }
      server { listen 127.0.0.1:%%PORT_1%% proxy_protocol; ${REAL} return "$geoip_country_code $geoip_org $geoip_city"; }`,
      ' $geoip_country_code $geoip_org',
    ),
    files: {
      'country.dat': countryDatabase({ ...COUNTRIES, '2001:db8::/32': CANADA }, EDITION.COUNTRY_V6),
      'city.dat': cityDatabase(PLACES, EDITION.CITY_REV0_V6),
      'org.dat': nameDatabase({ ...NAMES, '2001:db8::/32': '' }, EDITION.ASNUM_V6),
    },
  });
  t.equal(await from(s, '2001:db8::1'), 'there');
  t.equal(await from(s, '10.9.0.1'), 'here');
  t.equal(await from(s, '10.9.0.1', 1), Buffer.from('US T\xe9n San Jos\xe9').toString('latin1'));
  t.equal(await from(s, '2001:db8::1', 1), 'CA  ');
  t.match(s.accessLog(), /^200 CA $/m, 'a name may be empty');
  await (await RawClient.connect(s.port(1))).send('PROXY UNKNOWN\r\n').rest();
  await s.accessLogged(/^200 - -$/m);
});

t.test('messages', async (t) => {
  const files = { 'country.dat': countryDatabase(COUNTRIES), 'city.dat': cityDatabase(PLACES), 'org.dat': nameDatabase(NAMES) };
  for (const [lines, message] of [
    ['geoip_country %%DIR%%/country.dat utf8; geoip_city %%DIR%%/city.dat; geoip_org %%DIR%%/org.dat;', undefined],
    ['geoip_country %%DIR%%/none.dat;', 'GeoIP_open("none.dat") failed in %%FILE%%:5'],
    ['geoip_country %%DIR%%/org.dat;', 'invalid GeoIP database "org.dat" type:5 in %%FILE%%:5'],
    ['geoip_org %%DIR%%/city.dat;', 'invalid GeoIP database "city.dat" type:2 in %%FILE%%:5'],
    ['geoip_city %%DIR%%/country.dat;', 'invalid GeoIP City database "country.dat" type:1 in %%FILE%%:5'],
    ['geoip_city %%DIR%%/city.dat latin1;', 'invalid parameter "latin1" in %%FILE%%:5'],
    ['geoip_org %%DIR%%/org.dat;\ngeoip_org %%DIR%%/org.dat;', '"geoip_org" directive is duplicate in %%FILE%%:6'],
    ['geoip_org %%DIR%%/org.dat;\nmap $protocol $geoip_city { default x; }', 'the duplicate "geoip_city" variable in %%FILE%%:6'],
    ['server { geoip_org %%DIR%%/org.dat; }', '"geoip_org" directive is not allowed here in %%FILE%%:5'],
  ] as const) {
    const found = await configMessage(t, streamConf(lines), files);
    t.equal(found?.replace(/"\/[^" ]*\/([\w.]*)"/, '"$1"'), message, lines);
  }
  const proxy = await configMessage(t, streamConf('geoip_proxy 127.0.0.1;'), files);
  t.equal(proxy, '"geoip_proxy" directive is not allowed here in %%FILE%%:5');
});

t.test('both protocols name databases of their own', { skip: againstNginx && 'its variables are there in any case' }, async (t) => {
  const s = await startServer(t, {
    conf: `events {}
      http {
        access_log off; client_body_temp_path %%DIR%%/t; map $uri $geoip_city { default town; }
        server { listen 127.0.0.1:%%PORT_1%%; return 200 "$geoip_city"; }
      }
      stream { ${LINES} server { listen 127.0.0.1:%%PORT_0%% proxy_protocol; ${REAL} return "$geoip_city"; } }`,
    files: { 'country.dat': countryDatabase(COUNTRIES), 'city.dat': cityDatabase(PLACES), 'org.dat': nameDatabase(NAMES) },
  });
  t.equal(await from(s, '10.9.0.1'), 'San Jos\xe9');
  t.match(await exchange(s.port(1), 'GET / HTTP/1.0\r\n\r\n'), /\r\n\r\ntown$/);
});
