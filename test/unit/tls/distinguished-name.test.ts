import t from 'tap';
import { legacyName, rfc2253 } from '../../../src/worker/tls/distinguished-name.js';

const tlv = (tag: number, ...content: Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
};
const CN = [85, 4, 3];
const O = [85, 4, 10];
const part = (oid: number[], text: string | Buffer, tag = 12): Buffer =>
  tlv(0x30, tlv(6, Buffer.from(oid)), tlv(tag, Buffer.from(text as string)));
const name = (...sets: Buffer[][]): Buffer => Buffer.concat(sets.map((set) => tlv(0x31, ...set)));

t.test('both forms', async (t) => {
  const simple = name([part(O, 'Acme')], [part(CN, 'client')]);
  t.equal(rfc2253(simple), 'CN=client,O=Acme');
  t.equal(legacyName(simple), '/O=Acme/CN=client');
  t.equal(rfc2253(name([part(O, 'a'), part(CN, 'b')])), 'O=a+CN=b', 'two attributes in one part');
});

t.test('bytes with a meaning are escaped', async (t) => {
  t.equal(rfc2253(name([part(CN, '#a, "b" <c>; d+e\\ ')])), 'CN=\\#a\\, \\"b\\" \\<c\\>\\; d\\+e\\\\\\ ');
  t.equal(rfc2253(name([part(CN, 'é\n')])), 'CN=\\C3\\A9\\0A');
  t.equal(legacyName(name([part(CN, 'é')])), '/CN=\\xC3\\xA9');
  t.equal(rfc2253(name([part(CN, Buffer.from([0x00, 0xe9]), 30)])), 'CN=\\C3\\A9', 'a string of two bytes a character');
  t.equal(rfc2253(name([part([42, 3, 4], 'x')])), '1.2.3.4=#0C0178', 'an attribute without a name');
});
