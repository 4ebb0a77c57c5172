import t from 'tap';
import { type ProxyProtocolHeader, proxyProtocolTlv, readProxyProtocol } from '../../../src/worker/net/proxy-protocol.js';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

function version2(command: number, family: number, body: Buffer): Buffer {
  const head = Buffer.from([0x20 | command, family, body.length >> 8, body.length & 255]);
  return Buffer.concat([SIGNATURE, head, body]);
}

function headerOf(bytes: Buffer): ProxyProtocolHeader | undefined {
  const result = readProxyProtocol(bytes);
  return result.kind === 'header' ? result.header : undefined;
}

t.test('version 1', async (t) => {
  const bytes = Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 123 5678\r\nGET /');
  t.match(readProxyProtocol(bytes), {
    kind: 'header',
    size: 41,
    header: { sourceAddress: '192.0.2.1', sourcePort: 123, destinationAddress: '192.0.2.2', destinationPort: 5678 },
  });
  t.match(readProxyProtocol(Buffer.from('PROXY UNKNOWN whatever\r\n')), { kind: 'header', header: undefined, size: 24 });
  for (let end = 1; end < 41; end++) {
    t.equal(readProxyProtocol(bytes.subarray(0, end)).kind, 'more', `${end} bytes`);
  }
  for (const line of [
    'PROXY TCP4 192.0.2.1 x 1 2',
    'PROXY TCP4 192.0.2.1 192.0.2.2 1 99999',
    'PROXY TCP5 a b 1 2',
    'PROXY TCP6 fe80::1%eth0 ::1 1 2',
    'GET / HTTP/1.1',
  ]) {
    t.match(readProxyProtocol(Buffer.from(`${line}\r\n`)), { kind: 'invalid', message: `broken header: "${line}"` });
  }
});

t.test('version 2', async (t) => {
  const ipv4 = Buffer.from([192, 0, 2, 1, 192, 0, 2, 2, 0, 123, 22, 46]);
  t.match(headerOf(version2(1, 0x11, ipv4)), { sourceAddress: '192.0.2.1', sourcePort: 123, destinationPort: 5678 });
  const address = Buffer.from('20010db8000000000000000000000001', 'hex');
  const ipv6 = Buffer.concat([address, address, Buffer.from([0, 1, 0, 2])]);
  t.match(headerOf(version2(1, 0x21, ipv6)), { sourceAddress: '2001:db8::1', sourcePort: 1, destinationPort: 2 });
  t.same(readProxyProtocol(version2(0, 0x11, ipv4)), { kind: 'header', header: undefined, size: 28 }, 'LOCAL names nobody');
  t.equal(readProxyProtocol(version2(1, 0x11, ipv4).subarray(0, 20)).kind, 'more');
  t.match(readProxyProtocol(version2(1, 0x11, ipv4.subarray(0, 8))), { kind: 'invalid' });
  const wrong = version2(1, 0x11, ipv4);
  wrong[12] = 0x31;
  t.match(readProxyProtocol(wrong), { kind: 'invalid', message: 'unknown PROXY protocol version: 3' });
});

t.test('extensions', async (t) => {
  const tlv = (type: number, value: Buffer): Buffer => Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 255]), value]);
  const ssl = Buffer.concat([Buffer.from([1, 0, 0, 0, 255]), tlv(34, Buffer.from('example.com'))]);
  const tlvs = Buffer.concat([tlv(2, Buffer.from('localhost')), tlv(32, ssl), tlv(0xae, Buffer.from('12345'))]);
  const header = headerOf(version2(1, 0x11, Buffer.concat([Buffer.from([192, 0, 2, 1, 192, 0, 2, 2, 0, 1, 0, 2]), tlvs])))!;
  t.equal(proxyProtocolTlv(header, 'authority'), 'localhost');
  t.equal(proxyProtocolTlv(header, 'ssl_cn'), 'example.com');
  t.equal(proxyProtocolTlv(header, 'ssl_verify'), '255');
  t.equal(proxyProtocolTlv(header, '0x000ae'), '12345');
  t.equal(proxyProtocolTlv(header, 'alpn'), undefined);
  const told: string[] = [];
  const cut = { ...header, tlvs: Buffer.concat([tlvs, Buffer.from([1, 0])]) };
  for (const name of ['authority', 'alpn', '0x', '0xzz', 'ssl_none', 'none']) {
    proxyProtocolTlv(name === 'alpn' ? cut : header, name, (message) => told.push(message));
  }
  t.strictSame(told, [
    'broken PROXY protocol TLV',
    'invalid PROXY protocol TLV "0x"',
    'invalid PROXY protocol TLV "0xzz"',
    'unknown PROXY protocol TLV "ssl_none"',
    'unknown PROXY protocol TLV "none"',
  ]);
});
