import t from 'tap';
import { formatAddress, parseAddress, parseAddressPort } from '../../../src/shared/address/address.js';
import { parseCidr } from '../../../src/worker/address/cidr.js';
import { forwardedAddress, type PeerAddress, TrustedPeers } from '../../../src/worker/address/forwarded-address.js';

const trusted = new TrustedPeers([parseCidr('127.0.0.0/8')!, parseCidr('10.0.0.0/8')!, parseCidr('2001:db8::/32')!], true);

function follow(peer: string, headers: readonly string[], recursive: boolean, peers = trusted): string | undefined {
  const from: PeerAddress = peer === 'unix' ? 'unix' : parseAddress(peer)!;
  const found = forwardedAddress(from, headers, peers, recursive);
  return found && `${formatAddress(found.address)} ${found.port}`;
}

t.test('one step', async (t) => {
  t.equal(follow('127.0.0.1', ['192.0.2.1'], false), '192.0.2.1 0');
  t.equal(follow('127.0.0.1', ['192.0.2.1, 10.0.0.1'], false), '10.0.0.1 0');
  t.equal(follow('127.0.0.1', ['192.0.2.1', '192.0.2.2'], false), '192.0.2.2 0', 'the last header');
  t.equal(follow('unix', ['192.0.2.1:80'], false), '192.0.2.1 80');
  t.equal(follow('::ffff:127.0.0.1', ['192.0.2.1'], false), '192.0.2.1 0');
  t.equal(follow('192.0.2.9', ['192.0.2.1'], false), undefined, 'not trusted');
  t.equal(follow('unix', ['192.0.2.1'], false, new TrustedPeers([], false)), undefined);
  for (const text of ['', ' ', ',', 'unknown', '192.0.2.1 x', 'x,', '192.0.2.1:0', '192.0.2.1:70000', '[::1', '[::1]x', '[::1]:', ':80']) {
    t.equal(follow('127.0.0.1', [text], false), undefined, text);
  }
});

t.test('recursively', async (t) => {
  t.equal(follow('127.0.0.1', ['192.0.2.1, 10.0.0.1, 10.0.0.2'], true), '192.0.2.1 0');
  t.equal(follow('127.0.0.1', ['203.0.113.1, 192.0.2.1, 10.0.0.1'], true), '192.0.2.1 0', 'up to the first that is not trusted');
  t.equal(follow('127.0.0.1', ['10.0.0.3, 10.0.0.2'], true), '10.0.0.3 0');
  t.equal(follow('127.0.0.1', ['192.0.2.1', '10.0.0.1', '10.0.0.2'], true), '192.0.2.1 0', 'over several headers');
  t.equal(follow('127.0.0.1', ['192.0.2.1, bad, 10.0.0.1'], true), '10.0.0.1 0', 'as far as can be read');
  t.equal(follow('127.0.0.1', ['bad', '10.0.0.1'], true), '10.0.0.1 0');
  t.equal(follow('127.0.0.1', [], true), undefined);
});

t.test('ports and brackets', async (t) => {
  t.equal(follow('127.0.0.1', ['[2001:db8::7]:443'], false), '2001:db8::7 443');
  t.equal(follow('127.0.0.1', ['[2001:db8::7]'], false), '2001:db8::7 0');
  t.equal(follow('127.0.0.1', ['2001:db8::7'], false), '2001:db8::7 0');
  t.same(parseAddressPort('1.2.3.4:65535')?.port, 65535);
  t.equal(formatAddress(parseAddress('::ffff:1.2.3.4')!), '::ffff:1.2.3.4');
  t.equal(formatAddress(parseAddress('255.0.0.254')!), '255.0.0.254');
});
