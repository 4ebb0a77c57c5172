import t from 'tap';
import { Address, parseAddress } from '../../../src/shared/address/address.js';
import { parseCidr, simpleIpv4Cidr } from '../../../src/worker/address/cidr.js';
import { GeoNetworks } from '../../../src/worker/lookup/geo-networks.js';
import { GeoRanges } from '../../../src/worker/lookup/geo-ranges.js';

let seed = 7;
function random(below: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed % below;
}

const contains = (text: string, address: Address): boolean => {
  const { first, last } = parseCidr(text)!;
  const key = ({ a, b, c, d }: Address): string => [a, b, c, d].map((word) => word.toString(16).padStart(8, '0')).join('');
  return key(first) <= key(address) && key(address) <= key(last);
};

t.test('the longest network wins, as trying all of them does', async (t) => {
  for (const family of [4, 6] as const) {
    const text =
      family === 4
        ? () => `${[0, 10, 255][random(3)]}.${random(3)}.${random(256)}.${random(256)}/${random(33)}`
        : () =>
            `${['::', '2001:db8::', 'ffff:ffff:ffff:ffff:ffff:ffff:'][random(3)]}${random(65536).toString(16)}:${random(65536).toString(16)}/${random(129)}`;
    const networks = new GeoNetworks(family);
    const known = new Map<string, { text: string; bits: number; value: number }>();
    for (let value = 0; value < 500; value++) {
      const network = text();
      const { first, bits } = parseCidr(network)!;
      const key = `${first.a} ${first.b} ${first.c} ${first.d} ${bits}`;
      if (value % 5 === 4) {
        t.equal(networks.delete(first.a, first.b, first.c, first.d, bits), known.delete(key));
      } else {
        t.equal(networks.set(first.a, first.b, first.c, first.d, bits, value), known.get(key)?.value ?? -1);
        known.set(key, { text: network, bits, value });
      }
    }
    const { starts, values } = networks.cut();
    for (let i = 0; i < 100; i++) {
      const { first, last } = parseCidr(text())!;
      for (const address of [first, last]) {
        const at = family === 4 ? starts.findIpv4(address.d) : starts.findIpv6(address);
        let best = { bits: -1, value: -1 };
        for (const each of known.values()) {
          best = each.bits > best.bits && contains(each.text, address) ? each : best;
        }
        t.equal(at < 0 ? -1 : values[at], best.value);
      }
    }
  }
});

t.test('nothing at all', async (t) => {
  t.equal(new GeoNetworks(4).cut().starts.findIpv4(1), -1);
  t.equal(new GeoRanges().cut().starts.findIpv4(1), -1);
});

t.test('ranges end where they end', async (t) => {
  const ranges = new GeoRanges();
  ranges.add(0xfffe0000, 0xffffffff, 1);
  ranges.add(0x0a000000, 0x0a02ffff, 2);
  ranges.add(0x0a010000, 0x0a010009, 3);
  t.same(ranges.add(0x0a010000, 0x0a010009, 4), { duplicates: [3] });
  ranges.add(0x0b000010, 0x0b000020, 5);
  t.same(ranges.add(0x0b000018, 0x0b000030, 6), { overlaps: '11.0.0.16-11.0.0.32' });
  t.equal(ranges.delete(0xfffe0000, 0xfffeffff), true);
  t.equal(ranges.delete(0xfffe0000, 0xfffeffff), false);
  const { starts, values } = ranges.cut();
  const find = (address: number): number | undefined => values[starts.findIpv4(address)];
  t.same([0, 0x0a000000, 0x0a010000, 0x0a010009, 0x0a01000a, 0x0a02ffff, 0x0a030000].map(find), [undefined, 2, 4, 4, 2, 2, -1]);
  t.same([0xfffeffff, 0xffff0000, 0xffffffff].map(find), [-1, 1, 1]);
});

t.test('an IPv4 network as one number, or none where there is more to say', async (t) => {
  for (const text of ['10.0.0.0/8', '0.0.0.0/0', '192.0.2.1', '192.0.2.1/32', '255.255.255.254/31', '1.2.3.0/024']) {
    const { first, bits } = parseCidr(text)!;
    t.equal(simpleIpv4Cidr(text), first.d * 64 + bits, text);
  }
  for (const text of [
    '',
    '10.0.0.1/8',
    '10.0.0/8',
    '1..2.3',
    '1.2.3.4.5',
    '256.0.0.0',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/x',
    '::1',
    '255.255.255.255',
    '1.2.3.4x',
  ]) {
    t.equal(simpleIpv4Cidr(text), -1, text);
  }
  t.same(parseAddress('1:2::7:8'), new Address(6, 0x10002, 0, 0, 0x70008));
});
