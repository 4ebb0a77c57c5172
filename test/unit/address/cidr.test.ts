import { BlockList } from 'node:net';
import t from 'tap';
import { Address, isMapped, parseAddress, unmapped } from '../../../src/shared/address/address.js';
import { AddressMap } from '../../../src/worker/address/address-map.js';
import { CidrSet, parseCidr } from '../../../src/worker/address/cidr.js';

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) {
    throw new Error(`not an address: ${text}`);
  }
  return parsed;
}

function cidr(text: string) {
  const parsed = parseCidr(text);
  if (parsed === undefined) {
    throw new Error(`not a network: ${text}`);
  }
  return parsed;
}

t.test('IPv4 addresses', async (t) => {
  t.same(parseAddress('127.0.0.1'), new Address(4, 0, 0, 0, 0x7f000001));
  t.same(parseAddress('255.255.255.254'), new Address(4, 0, 0, 0, 0xfffffffe));
  t.same(parseAddress('0.0.0.0'), new Address(4, 0, 0, 0, 0));
  for (const text of [
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.a',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.-4',
    '255.255.255.255',
    'unix:',
  ]) {
    t.equal(parseAddress(text), undefined, text);
  }
});

t.test('IPv6 addresses', async (t) => {
  t.same(parseAddress('2001:db8::1'), new Address(6, 0x20010db8, 0, 0, 1));
  t.same(parseAddress('::'), new Address(6, 0, 0, 0, 0));
  t.same(parseAddress('::1'), new Address(6, 0, 0, 0, 1));
  t.same(parseAddress('fe80::'), new Address(6, 0xfe800000, 0, 0, 0));
  t.same(parseAddress('1:2:3:4:5:6:7:8'), new Address(6, 0x10002, 0x30004, 0x50006, 0x70008));
  t.same(parseAddress('2001:DB8::A'), new Address(6, 0x20010db8, 0, 0, 10));
  t.same(parseAddress('::ffff:192.0.2.1'), new Address(6, 0, 0, 0xffff, 0xc0000201));
  t.same(parseAddress('1:2:3:4:5:6:1.2.3.4'), new Address(6, 0x10002, 0x30004, 0x50006, 0x01020304));
  for (const text of [
    ':',
    ':::',
    '1:2',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1.2.3',
    '1:2:3:4::5:6:7:8',
    '[::1]',
    '::1%lo',
  ]) {
    t.equal(parseAddress(text), undefined, text);
  }
});

t.test('IPv4-mapped addresses', async (t) => {
  t.ok(isMapped(address('::ffff:1.2.3.4')));
  t.notOk(isMapped(address('::1.2.3.4')));
  t.notOk(isMapped(address('1.2.3.4')));
  t.same(unmapped(address('::ffff:1.2.3.4')), address('1.2.3.4'));
  t.same(unmapped(address('2001:db8::1')), address('2001:db8::1'));
});

t.test('networks', async (t) => {
  t.same(parseCidr('192.0.2.0/24'), { first: address('192.0.2.0'), last: address('192.0.2.255'), bits: 24, lowBits: false });
  t.same(parseCidr('192.0.2.1'), { first: address('192.0.2.1'), last: address('192.0.2.1'), bits: 32, lowBits: false });
  t.same(parseCidr('10.1.2.3/8'), { first: address('10.0.0.0'), last: address('10.255.255.255'), bits: 8, lowBits: true });
  t.same(parseCidr('0.0.0.0/0')?.last.d, 0xffffffff);
  t.same(parseCidr('2001:db8::/33'), {
    first: address('2001:db8::'),
    last: address('2001:db8:7fff:ffff:ffff:ffff:ffff:ffff'),
    bits: 33,
    lowBits: false,
  });
  t.equal(parseCidr('2001:db8::1/64')?.lowBits, true);
  t.same(parseCidr('::/0')?.last, new Address(6, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff));
  for (const text of ['1.2.3.4/33', '1.2.3.4/', '1.2.3.4/a', '1.2.3.4/-1', '::/129', 'localhost', '1.2.3.4/8/8', '/8', '']) {
    t.equal(parseCidr(text), undefined, text);
  }
});

t.test('the entry that stands first wins', async (t) => {
  const rules = new AddressMap(
    [
      ['192.168.1.1', 'deny 1'],
      ['192.168.1.0/24', 'allow'],
      ['10.1.1.0/16', 'allow 10'],
      ['10.0.0.0/8', 'deny 10'],
      ['10.1.1.1', 'never'],
      ['2001:db8::/32', 'allow 6'],
      ['::/0', 'deny 6'],
    ].map(([text, value]) => ({ ...cidr(text!), value: value! })),
  );
  const find = (text: string) => rules.find(address(text));
  t.equal(find('192.168.1.1'), 'deny 1');
  t.equal(find('192.168.1.0'), 'allow');
  t.equal(find('192.168.1.255'), 'allow');
  t.equal(find('192.168.2.0'), undefined);
  t.equal(find('192.168.0.255'), undefined);
  t.equal(find('10.1.1.1'), 'allow 10');
  t.equal(find('10.2.0.0'), 'deny 10');
  t.equal(find('9.255.255.255'), undefined);
  t.equal(find('2001:db8:1::1'), 'allow 6');
  t.equal(find('2001:db9::'), 'deny 6');
  t.equal(find('::ffff:192.168.1.1'), 'deny 6', 'a mapped address is IPv6 here');
  t.ok(rules.has(4));
  t.ok(rules.has(6));
  t.notOk(new AddressMap([{ ...cidr('::1'), value: 1 }]).has(4));
});

t.test('the whole range of a family', async (t) => {
  const map = new AddressMap([
    { ...cidr('0.0.0.0/0'), value: 4 },
    { ...cidr('::/0'), value: 6 },
  ]);
  t.equal(map.find(new Address(4, 0, 0, 0, 0xffffffff)), 4);
  t.equal(map.find(new Address(4, 0, 0, 0, 0)), 4);
  t.equal(map.find(new Address(6, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)), 6);
});

t.test('sets agree with node:net over thousands of networks', async (t) => {
  const blocks = new BlockList();
  const networks: string[] = [];
  let seed = 12345;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 0x100000000) * below);
  };
  const dotted = () => `${random(4)}.${random(256)}.${random(256)}.${random(255)}`;
  for (let i = 0; i < 2000; i++) {
    const bits = 14 + random(19);
    const ip = dotted();
    networks.push(`${ip}/${bits}`);
    blocks.addSubnet(ip, bits, 'ipv4');
  }
  const set = new CidrSet(networks.map(cidr));
  for (let i = 0; i < 3000; i++) {
    const ip = dotted();
    if (set.has(address(ip)) !== blocks.check(ip)) {
      t.fail(ip);
    }
  }
  t.ok(set.has(address(`::ffff:${networks[0]!.split('/')[0]}`)), 'a mapped address is looked up as IPv4');
  t.notOk(set.has(address('2001:db8::1')));
});
