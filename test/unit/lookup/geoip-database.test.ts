import t from 'tap';
import { Address, parseAddress } from '../../../src/shared/address/address.js';
import { type GeoipDatabase, openGeoip } from '../../../src/worker/lookup/geoip-database.js';
import { readGeoipNames } from '../../../src/worker/lookup/geoip-names.js';
import { type City, cityDatabase, countryDatabase, EDITION, nameDatabase } from '../../support/geoip-database.js';

/** Numbers by chance, the same in each run: xorshift. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const opened = (bytes: Buffer): GeoipDatabase | undefined => openGeoip(bytes.toString('latin1'));

/** Asks for everything, of an address. */
function ask(database: GeoipDatabase, address: Address | undefined): void {
  database.country(address);
  database.name(address);
  database.city(address);
}

const PLACES: Readonly<Record<string, City>> = {
  '10.0.0.0/8': { country: 225, region: 'CA', city: 'San Francisco', postalCode: '94107', latitude: 377_697, dmaCode: 807, areaCode: 415 },
  '192.0.2.0/24': { country: 56, city: 'Berlin' },
};

t.test('what a damaged file says is somewhere in it, or nothing', async (t) => {
  const random = numbers(20_261_128);
  const files = [
    countryDatabase({ '10.0.0.0/8': 1, '10.1.0.0/16': 255 }),
    countryDatabase({ '2001:db8::/32': 7 }, EDITION.COUNTRY_V6),
    cityDatabase(PLACES),
    cityDatabase(PLACES, EDITION.CITY_REV0),
    cityDatabase(PLACES, EDITION.CITY_REV1_V6),
    nameDatabase({ '10.0.0.0/8': 'one', '192.0.2.1': 'other' }),
    nameDatabase({ '10.0.0.0/8': 'one', '2001:db8::1': 'other' }, EDITION.ORG_V6),
    nameDatabase({ '10.0.0.0/8': 'one', '192.0.2.1': 'other' }, EDITION.ASNUM),
  ];
  const addresses = ['10.1.2.3', '192.0.2.1', '0.0.0.0', '2001:db8::1', '::ffff:192.0.2.1', '2001::1'].map((text) => parseAddress(text)!);
  let databases = 0;
  for (let round = 0; round < 4000; round++) {
    const bytes = Buffer.from(files[round % files.length]!);
    const kept =
      random(3) === 0
        ? bytes.subarray(random(bytes.length))
        : bytes.subarray(0, bytes.length - (random(3) === 0 ? random(bytes.length) : 0));
    for (let i = random(8); i > 0 && kept.length > 0; i--) {
      kept[random(kept.length)] = random(2) === 0 ? 255 : random(256);
    }
    const database = opened(kept);
    if (database !== undefined) {
      databases++;
      for (const address of [...addresses, undefined, new Address(4, 0, 0, 0, random(2 ** 32))]) {
        ask(database, address);
      }
    }
  }
  t.ok(databases > 500, `${databases} of them are databases`);
});

t.test('a tree that leads round in a circle ends with the address', async (t) => {
  const trailer = [255, 255, 255, EDITION.COUNTRY];
  const circle = opened(Buffer.from([...Buffer.alloc(30), ...trailer]))!;
  t.equal(circle.country(parseAddress('192.0.2.1')), 0);
  const beyond = opened(Buffer.from([...Array(4).fill([0, 0, 1, 0, 0, 1]).flat(), ...trailer]))!;
  t.equal(beyond.country(parseAddress('192.0.2.1')), 0);
  const none = opened(Buffer.from([...Buffer.alloc(30), 255, 255, 255, EDITION.ORG_V6, 0, 0, 0]))!;
  t.equal(none.name(parseAddress('2001:db8::1')), undefined);
});

t.test('a text ends with the file, and somewhere in it', async (t) => {
  // One node; the leaves name the second byte behind it.
  const node = [2, 0, 0, 0, 2, 0, 0, 0];
  const trailer = [255, 255, 255, EDITION.ORG, 1, 0, 0];
  const long = Buffer.concat([Buffer.from(node), Buffer.alloc(1), Buffer.alloc(100_000, 'x'), Buffer.from(trailer)]);
  t.equal(opened(long)!.name(parseAddress('192.0.2.1')), 'x'.repeat(4096));
  const short = Buffer.concat([Buffer.from(node), Buffer.alloc(1), Buffer.from('name'), Buffer.from(trailer)]);
  t.equal(opened(short)!.name(parseAddress('192.0.2.1')), 'name\xff\xff\xff\x05\x01');
  const outside = Buffer.concat([Buffer.from([0, 0, 0, 128, 0, 1, 0, 0]), Buffer.alloc(30), Buffer.from(trailer)]);
  t.equal(opened(outside)!.name(parseAddress('192.0.2.1')), undefined);
  t.equal(opened(outside)!.name(parseAddress('1.2.3.4')), undefined);
});

t.test('names', async (t) => {
  const names = readGeoipNames();
  t.strictSame(names.country(56), { code: 'DE', code3: 'DEU', continent: 'EU', name: 'Germany', utf8Name: 'Germany' });
  t.strictSame(names.country(0), { code: '--', code3: '--', continent: '--', name: undefined, utf8Name: undefined });
  t.match(names.country(10), { name: 'Curacao', utf8Name: 'Cura\xc3\xa7ao' });
  t.match(names.country(255), { code: 'O1', name: 'Other' });
  for (let number = 0; number < 256; number++) {
    const { code, code3, continent } = names.country(number);
    t.match([code, code3, continent], [/^(--|[A-Z][A-Z0-9])$/, /^(--|[A-Z][A-Z0-9]{1,2})$/, /^(--|A[FNS]|EU|NA|OC|SA)$/]);
  }
  for (const [country, code, name] of [
    ['US', 'CA', 'California'],
    ['CA', 'QC', 'Quebec'],
    ['DE', '16', 'Berlin'],
    ['DE', '16 and more', 'Berlin'],
    ['AD', '08', 'Escaldes-Engordany'],
    ['US', 'ca', undefined],
    ['US', 'C', undefined],
    ['US', '', undefined],
    ['US', '|C', undefined],
    ['--', 'CA', undefined],
    ['', 'CA', undefined],
  ] as const) {
    t.equal(names.region(country, code), name, `${country} ${code}`);
  }
});
