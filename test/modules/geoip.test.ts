import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { type City, cityDatabase, countryDatabase, EDITION, type Networks, nameDatabase, SAN_JOSE } from '../support/geoip-database.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { Http2Client, request } from '../support/http2-client.js';
import { http, httpGet, pipeline, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';

const [GERMANY, US, CURACAO, CANADA, NOWHERE] = [56, 225, 10, 38, 0];

/** The log shows what has no value as `-`. */
const LOG = `log_format geoip '$geoip_country_code|$geoip_country_code3|$geoip_country_name|$geoip_org';
  log_format city '$geoip_city_continent_code|$geoip_city_country_code|$geoip_city_country_code3|$geoip_city_country_name|$geoip_region'
    '|$geoip_region_name|$geoip_city|$geoip_postal_code|$geoip_latitude|$geoip_longitude|$geoip_dma_code|$geoip_area_code';
  access_log %%DIR%%/geoip.log geoip;
  access_log %%DIR%%/city.log city;`;
/** A client says where it comes from. */
const REAL = 'set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;';
const SERVER = `${LOG} server { listen 127.0.0.1:%%PORT_0%%; ${REAL} return 204; }`;

const NOTHING = '-|-|-|-';
const NO_CITY = '-|-|-|-|-|-|-|-|-|-|-|-';

/** What both logs say of clients with these addresses, in their order. */
async function answers(s: Server, addresses: readonly string[]): Promise<{ geoip: string[]; city: string[] }> {
  const before = { geoip: s.read('geoip.log').length, city: s.read('city.log').length };
  await pipeline(
    s,
    addresses.map((address) => requestText('GET', '/', { 'X-Real-IP': address })),
  );
  // A connection that the server closes is in the logs.
  await httpGet(s, '/', { 'X-Real-IP': '0.0.0.0' });
  const lines = (name: 'geoip' | 'city'): string[] =>
    s
      .read(`${name}.log`)
      .slice(before[name])
      .replaceAll(/\\x([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      .split('\n')
      .slice(0, addresses.length);
  return { geoip: lines('geoip'), city: lines('city') };
}

const PLACES: Networks<City> = {
  '10.0.0.0/8': SAN_JOSE,
  '10.1.0.0/16': { country: CANADA, region: 'QC', city: 'Montr\xe9al' },
  '10.1.2.3': { country: GERMANY, region: '16', latitude: -1, longitude: 1 },
  '10.2.0.0/16': { country: CURACAO, region: '00', city: 'Willemstad' },
  '10.3.0.0/16': { country: NOWHERE, postalCode: 'none' },
  '10.4.0.0/16': { country: 255, region: 'X', city: 'Y' },
  '255.255.255.254/31': { country: GERMANY, city: 'who knows' },
  '0.0.0.0/32': { country: GERMANY, city: 'all zeros' },
};
const PLACES_V6: Networks<City> = {
  ...PLACES,
  '2001:db8::/32': { country: US, region: 'NY', dmaCode: 501, areaCode: 212 },
  '2001:db8:1::1': { country: GERMANY, region: 'zz', city: '\xff' },
  '::/128': { country: CANADA, city: 'without address' },
};
const COUNTRIES: Networks<number> = {
  '10.0.0.0/8': US,
  '10.1.0.0/16': CURACAO,
  '10.2.0.0/16': NOWHERE,
  '10.3.0.0/16': 255,
  '0.0.0.0/32': US,
};
const NAMES: Networks<string> = { '10.0.0.0/8': 'Ten', '10.1.0.0/16': 'M\xfcller & S\xf6hne', '10.2.0.0/16': '' };

t.test('countries, cities and organizations', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`geoip_country %%DIR%%/country.dat; geoip_org %%DIR%%/org.dat; geoip_city %%DIR%%/city.dat; ${SERVER}`),
    files: { 'country.dat': countryDatabase(COUNTRIES), 'org.dat': nameDatabase(NAMES), 'city.dat': cityDatabase(PLACES) },
  });
  const clients = [
    '10.9.0.1',
    '10.1.0.1',
    '10.1.2.3',
    '10.2.9.9',
    '10.3.0.0',
    '10.4.0.1',
    '11.0.0.1',
    '0.0.0.0',
    '::ffff:10.1.2.3',
    '2001:db8::1',
  ];
  const { geoip, city } = await answers(s, clients);
  t.strictSame(geoip, [
    'US|USA|United States|Ten',
    'CW|CUW|Curacao|M\xfcller & S\xf6hne',
    'CW|CUW|Curacao|M\xfcller & S\xf6hne',
    '-|-|-|',
    'O1|O1|Other|Ten',
    'US|USA|United States|Ten',
    NOTHING,
    NOTHING,
    'CW|CUW|Curacao|M\xfcller & S\xf6hne',
    NOTHING,
  ]);
  t.strictSame(city, [
    'NA|US|USA|United States|CA|California|San Jos\xe9|95110|37.3394|-121.8950|807|408',
    'NA|CA|CAN|Canada|QC|Quebec|Montr\xe9al|-|0.0000|0.0000|0|0',
    'EU|DE|DEU|Germany|16|Berlin|-|-|-0.0001|0.0001|0|0',
    'NA|CW|CUW|Curacao|00|-|Willemstad|-|0.0000|0.0000|0|0',
    '--|--|--|-|-|-|-|none|0.0000|0.0000|0|0',
    '--|O1|O1|Other|X|-|Y|-|0.0000|0.0000|0|0',
    NO_CITY,
    'EU|DE|DEU|Germany|-|-|all zeros|-|0.0000|0.0000|0|0',
    'EU|DE|DEU|Germany|16|Berlin|-|-|-0.0001|0.0001|0|0',
    'EU|DE|DEU|Germany|-|-|who knows|-|0.0000|0.0000|0|0',
  ]);
});

t.test('UTF-8', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`geoip_country %%DIR%%/country.dat utf8; geoip_org %%DIR%%/org.dat utf8; geoip_city %%DIR%%/city.dat utf8; ${SERVER}`),
    files: {
      'country.dat': countryDatabase(COUNTRIES),
      'org.dat': nameDatabase({ ...NAMES, '10.5.0.0/16': '\x80\xbf\xc0\xff' }),
      'city.dat': cityDatabase({ ...PLACES, '10.5.0.0/16': { country: US, region: '\xe9\xe9', city: '\x80\xff', postalCode: '\xe9' } }),
    },
  });
  const { geoip, city } = await answers(s, ['10.1.0.1', '10.2.0.1', '10.5.0.1']);
  const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  t.strictSame(geoip, [bytes('CW|CUW|Cura\xe7ao|M\xfcller & S\xf6hne'), '-|-|-|', bytes('US|USA|United States|\x80\xbf\xc0\xff')]);
  t.strictSame(city, [
    bytes('NA|CA|CAN|Canada|QC|Quebec|Montr\xe9al|-|0.0000|0.0000|0|0'),
    bytes('NA|CW|CUW|Cura\xe7ao|00|-|Willemstad|-|0.0000|0.0000|0|0'),
    `NA|US|USA|United States|\xe9\xe9|-|${bytes('\x80\xff')}|\xe9|0.0000|0.0000|0|0`,
  ]);
});

t.test('all editions', async (t) => {
  const conf = httpConf(`geoip_country %%DIR%%/country.dat; geoip_org %%DIR%%/org.dat; geoip_city %%DIR%%/city.dat; ${SERVER}`);
  const wide = { '2001:db8::/32': 'six', '::/128': 'zeros' };
  const countries = { ...COUNTRIES, '2001:db8::/32': GERMANY, '2001:db8:1::/48': CANADA, '2001::/32': US };
  const editions: readonly (readonly [number, number, number])[] = [
    [EDITION.COUNTRY, EDITION.ORG, EDITION.CITY_REV0],
    [EDITION.COUNTRY_V6, EDITION.ORG_V6, EDITION.CITY_REV0_V6],
    [EDITION.COUNTRY, EDITION.ISP, EDITION.CITY_REV1],
    [EDITION.COUNTRY_V6, EDITION.ISP_V6, EDITION.CITY_REV1_V6],
    [EDITION.COUNTRY, EDITION.DOMAIN, EDITION.CITY_REV1],
    [EDITION.COUNTRY_V6, EDITION.DOMAIN_V6, EDITION.CITY_REV1_V6],
    [EDITION.COUNTRY, EDITION.ASNUM, EDITION.CITY_REV1],
    [EDITION.COUNTRY_V6, EDITION.ASNUM_V6, EDITION.CITY_REV1_V6],
  ];
  const filesOf = ([country, org, city]: readonly [number, number, number]): Record<string, Buffer> => ({
    'country.dat': countryDatabase(country === EDITION.COUNTRY ? COUNTRIES : countries, country),
    'org.dat': nameDatabase(country === EDITION.COUNTRY ? NAMES : { ...NAMES, ...wide }, org),
    'city.dat': cityDatabase(country === EDITION.COUNTRY ? PLACES : PLACES_V6, city),
  });
  const s = await startServer(t, { conf, files: filesOf(editions[0]!) });
  for (const [i, each] of editions.entries()) {
    if (i > 0) {
      for (const [name, bytes] of Object.entries(filesOf(each))) {
        await s.write(name, bytes);
      }
      await s.reload();
    }
    const [country, , cities] = each;
    const six = country === EDITION.COUNTRY_V6;
    const codes = cities === EDITION.CITY_REV0 || cities === EDITION.CITY_REV0_V6 ? '0|0' : '807|408';
    const { geoip, city } = await answers(s, ['10.9.0.1', '2001:db8::1', '2001:db8:1::1', '::', '::ffff:10.9.0.1', '0.0.0.0']);
    const ten = 'US|USA|United States|Ten';
    t.strictSame(
      geoip,
      six
        ? [ten, 'DE|DEU|Germany|six', 'CA|CAN|Canada|six', '-|-|-|zeros', ten, 'US|USA|United States|-']
        : [ten, NOTHING, NOTHING, NOTHING, ten, NOTHING],
      `${each}`,
    );
    const ofTen = `NA|US|USA|United States|CA|California|San Jos\xe9|95110|37.3394|-121.8950|${codes}`;
    const zeros = 'EU|DE|DEU|Germany|-|-|all zeros|-|0.0000|0.0000|0|0';
    const nobody = 'EU|DE|DEU|Germany|-|-|who knows|-|0.0000|0.0000|0|0';
    t.strictSame(
      city,
      six
        ? [
            ofTen,
            `NA|US|USA|United States|NY|New York|-|-|0.0000|0.0000|${codes === '0|0' ? codes : '501|212'}`,
            'EU|DE|DEU|Germany|zz|-|\xff|-|0.0000|0.0000|0|0',
            'NA|CA|CAN|Canada|-|-|without address|-|0.0000|0.0000|0|0',
            ofTen,
            zeros,
          ]
        : [ofTen, nobody, nobody, nobody, ofTen, zeros],
      `${each}`,
    );
  }
});

t.test('clients of Teredo, and of UNIX-domain sockets', async (t) => {
  const conf = (version: string): string =>
    httpConf(
      `geoip_country %%DIR%%/country${version}.dat; geoip_city %%DIR%%/city${version}.dat; ${LOG}
      server { listen 127.0.0.1:%%PORT_0%%; listen unix:%%DIR%%/s.sock; ${REAL} return 200 "$geoip_country_code $geoip_city"; }`,
    );
  const s = await startServer(t, {
    conf: conf('6'),
    files: {
      'country6.dat': countryDatabase({ '2001::/32': GERMANY, '::203.0.113.0/120': CANADA, '::/128': US }, EDITION.COUNTRY_V6),
      'city6.dat': cityDatabase(PLACES_V6, EDITION.CITY_REV1_V6),
      'country.dat': countryDatabase({ '255.255.255.254/31': CANADA }),
      'city.dat': cityDatabase(PLACES),
    },
  });
  const address = (text: string): Promise<string> => httpGet(s, '/', { 'X-Real-IP': text }).then(({ text }) => text);
  // The client's address in it is inverted: 203.0.113.9.
  t.equal(await address('2001:0:1:2:3:4:34ff:8ef6'), 'CA ');
  t.equal(await address('2001:0:1:2:3:4:34ff:8df6'), ' ', 'another client: 203.0.114.9');
  t.equal(await address('2001:1::'), ' ');
  t.equal(await address('::ffff:ffff:ffff'), ' who knows', 'an address of its own');
  t.equal((await httpGet(`${s.dir}/s.sock`, '/')).text, 'US without address');
  await s.reload(conf(''));
  t.equal((await httpGet(`${s.dir}/s.sock`, '/')).text, 'CA who knows');
});

t.test('proxies', async (t) => {
  const conf = (lines: string): string =>
    serverConf('location / { return 200 "$geoip_country_code $geoip_city $geoip_org"; }', `geoip_country %%DIR%%/country.dat; ${lines}`);
  const s = await startServer(t, {
    conf: conf('geoip_proxy 127.0.0.1; geoip_proxy 192.0.2.0/24; geoip_proxy 2001:db8::/32; geoip_proxy_recursive on;'),
    files: {
      'country.dat': countryDatabase(
        { '198.51.100.0/24': GERMANY, '203.0.113.0/24': CANADA, '192.0.2.0/24': US, '2001:db8::/32': CURACAO, '127.0.0.0/8': 1 },
        EDITION.COUNTRY_V6,
      ),
    },
  });
  const ask = async (...forwarded: readonly string[]): Promise<string> => {
    const lines = forwarded.map((line) => `X-Forwarded-For: ${line}\r\n`).join('');
    return (await http(s, `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`)).text.trim();
  };
  const rows = [
    [[], 'AP', 'AP'],
    [['198.51.100.1'], 'DE', 'DE'],
    [['198.51.100.1, 192.0.2.1'], 'DE', 'US'],
    [['203.0.113.1, 198.51.100.1, 192.0.2.1:80, [2001:db8::1]:80'], 'DE', 'CW'],
    [['198.51.100.1,192.0.2.1,'], 'DE', 'US'],
    [['198.51.100.1', '192.0.2.1'], 'DE', 'US'],
    [['203.0.113.1', '198.51.100.1', '192.0.2.1'], 'DE', 'US'],
    [['nonsense'], 'AP', 'AP'],
    [['nonsense, 192.0.2.1'], 'US', 'US'],
    [['::ffff:198.51.100.1, ::ffff:192.0.2.1'], 'DE', 'US'],
  ] as const;
  for (const [lines, recursive] of rows) {
    t.equal(await ask(...lines), recursive, lines.join(' / '));
  }
  await s.reload(conf('geoip_proxy 127.0.0.1; geoip_proxy 192.0.2.0/24; geoip_proxy 2001:db8::/32; geoip_proxy_recursive off;'));
  for (const [lines, , once] of rows) {
    t.equal(await ask(...lines), once, lines.join(' / '));
  }
  await s.reload(conf('geoip_proxy 192.0.2.0/24; geoip_proxy_recursive on;'));
  t.equal(await ask('198.51.100.1'), 'AP', 'nobody believes this client');
  await s.reload(conf(''));
  t.equal(await ask('198.51.100.1'), 'AP');
});

t.test('where variables are asked for', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `geoip_country %%DIR%%/country.dat; geoip_city %%DIR%%/city.dat; geoip_proxy 127.0.0.1; ${LOG}
      map $geoip_country_code $site { default other; US american; DE german; }
      map $geoip_city_country_code $limited { default ''; DE $geoip_city_country_code; }
      limit_req_zone $limited zone=one:1m rate=1r/m;
      server {
        listen 127.0.0.1:%%PORT_0%%; http2 on;
        location / { return 200 "$site $geoip_city_country_name"; }
        location /if { if ($geoip_country_code = DE) { return 403; } return 200 in; }
        location /limited { limit_req zone=one; try_files /page =404; root %%DIR%%; }
        location /page { ssi on; ssi_types text/plain; root %%DIR%%; }
        location /part { return 200 "$geoip_country_code"; }
        location /late { set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP; set $early $geoip_country_code; add_header X-Codes "[$early] $geoip_country_code3"; try_files /page =404; root %%DIR%%; }
      }`,
      'worker_processes 2;',
    ),
    files: {
      'country.dat': countryDatabase(COUNTRIES),
      'city.dat': cityDatabase(PLACES),
      page: '<!--# include virtual="/part" -->,<!--# echo var="geoip_country_name" -->',
    },
  });
  const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
  t.equal((await httpGet(s, '/', from('10.9.0.1'))).text, 'american United States');
  t.equal((await httpGet(s, '/', from('11.9.0.1'))).text, 'other ');
  t.equal((await httpGet(s, '/if', from('10.9.0.1'))).status, 200);
  t.equal((await httpGet(s, '/page', from('10.9.0.1'))).text, 'US,United States', 'subrequests');
  const statuses = [];
  for (const address of ['10.1.2.3', '10.1.2.3', '10.9.0.1', '10.9.0.1']) {
    statuses.push((await httpGet(s, '/limited', from(address))).status);
  }
  t.strictSame(statuses, [200, 503, 200, 200]);
  const late = await httpGet(s, '/late', { 'X-Real-IP': '10.9.0.1' });
  t.equal(late.header('X-Codes'), '[] USA', 'a value stays, and a later one is of the address that came to light');

  const client = await Http2Client.connect(t, s.port(0));
  const { body } = await client.request(1, request('GET', '/', ['x-forwarded-for', '10.9.0.1'])).response(1);
  t.equal(body, 'american United States', 'over HTTP/2');
  client.socket.destroy();
});

t.test('over HTTP/3', { skip: againstNginx ? 'another server' : noQuicClient }, async (t) => {
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: httpConf(
      `geoip_country %%DIR%%/country.dat;
      server {
        listen 127.0.0.1:%%PORT_0%% quic; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location / { return 200 "$geoip_country_name"; }
      }`,
    ),
    files: { 'country.dat': countryDatabase({ '127.0.0.0/8': GERMANY }) },
  });
  t.equal((await quicGet(s.port(0), ['/x'])).bodies['x'], 'Germany');
});

t.test('a reload reads the files again, and one that cannot be read changes nothing', async (t) => {
  const conf = serverConf('location / { return 200 "$geoip_country_code"; }', 'geoip_country %%DIR%%/country.dat;');
  const s = await startServer(t, {
    conf: `worker_processes 2;\n${conf}`,
    files: { 'country.dat': countryDatabase({ '127.0.0.0/8': GERMANY }) },
  });
  t.equal((await httpGet(s, '/')).text, 'DE');
  await s.write('country.dat', countryDatabase({ '127.0.0.0/8': CANADA }));
  t.equal((await httpGet(s, '/')).text, 'DE', 'not before');
  await s.reload();
  t.equal((await httpGet(s, '/')).text, 'CA');
  await s.write('country.dat', nameDatabase(NAMES));
  await t.rejects(s.reload(), /invalid GeoIP database ".*" type:5 in /);
  t.equal((await httpGet(s, '/')).text, 'CA');
});

t.test('without a line the variables are whose they like to be', { skip: againstNginx && 'its module takes them' }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'location / { set $geoip_region north; return 200 "[$geoip_country_code$geoip_city $geoip_org $geoip_region]"; }',
      'map $uri $geoip_city { default town; } geo $geoip_org { default nobody; }',
    ),
  });
  t.equal((await httpGet(s, '/')).text, '[town nobody north]');
});
