import t from 'tap';
import { decodeHeader, encodeHeader, fileLength } from '../../../src/worker/cache/file-format.js';
import { parseUsers } from '../../../src/worker/modules/auth-basic/user-file.js';
import { readProxyProtocol } from '../../../src/worker/net/proxy-protocol.js';
import { crypt } from '../../../src/worker/password/crypt.js';
import { Mutations, trials } from './mutations.js';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

t.test('PROXY protocol', async (t) => {
  const signature = '\r\n\r\n\0\r\nQUIT\n';
  const texts = [
    'PROXY TCP4 192.0.2.1 192.0.2.2 123 5678\r\nGET /',
    'PROXY TCP6 2001:db8::1 ::1 1 65535\r\n',
    'PROXY UNKNOWN whatever\r\n',
    `${signature}\x21\x11\0\x0c\x7f\0\0\x01\x7f\0\0\x02\0\x50\x01\xbb`,
    `${signature}\x21\x21\0\x24${'\0'.repeat(36)}`,
    `${signature}\x20\0\0\0`,
    `${signature}\x21\x11\0\x13\x7f\0\0\x01\x7f\0\0\x02\0\x50\x01\xbb\x01\0\x04host`,
  ];
  const mutations = new Mutations(13, [signature, '\r\n', ' ', '\0', '\x21', '\x11', '1', '99999', '::', 'PROXY ', 'TCP4']);
  for (let i = -texts.length; i < trials(5000); i++) {
    const text = i < 0 ? texts[i + texts.length]! : mutations.mutated(texts);
    const bytes = latin1(text);
    const whole = readProxyProtocol(bytes);
    if (whole.kind !== 'header') {
      continue;
    }
    if (whole.size > bytes.length) {
      t.fail(`${JSON.stringify(text)}: more bytes than there are`);
    }
    // The header is the same with fewer bytes behind it, and is not known before its last byte.
    t.strictSame(readProxyProtocol(bytes.subarray(0, whole.size)), whole);
    for (let end = 1; end < whole.size; end++) {
      if (readProxyProtocol(bytes.subarray(0, end)).kind !== 'more') {
        t.fail(`${JSON.stringify(text)}: the first ${end} bytes`);
      }
    }
  }
});

t.test('headers of cache files', async (t) => {
  const entry = {
    ...{ key: 'http://x/a', validUntil: 1_800_000_000, updating: 30, onError: 60, lastModified: -1, date: 1_700_000_000, bodyLength: 10 },
    ...{ contentLength: -1, status: 200, error: 0, vary: 'Accept', variant: 'x'.repeat(32), etag: '"x"', reason: 'OK', lines: ['A', 'b'] },
    tags: 'one two',
  };
  const sound = encodeHeader(entry, 7)!;
  t.match(decodeHeader(sound), { entry, bodyStart: sound.length, tableCrc: 7 });
  for (let at = 0; at < sound.length; at++) {
    const bytes = Buffer.from(sound);
    bytes[at]! ^= 1 << (at % 8);
    t.type(decodeHeader(bytes), 'string', `a changed bit in byte ${at}`);
    t.type(decodeHeader(sound.subarray(0, at)), 'string', `${at} bytes`);
  }
  const mutations = new Mutations(14, ['sluicec\x01', '\0\0\0\0', '\xff\xff\xff\xff', '\x7f\xf0']);
  for (let i = trials(5000); i > 0; i--) {
    const text = mutations.mutated([sound.toString('latin1')]);
    const found = decodeHeader(latin1(text));
    if (typeof found !== 'string' && (found.bodyStart !== sound.length || fileLength(found) !== sound.length + 14)) {
      t.fail(JSON.stringify(text));
    }
  }
});

t.test('entries of htpasswd files', async (t) => {
  const entries = [
    'u:{PLAIN}secret',
    'u:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
    'u:{SSHA}bGFQ3NsDGN8zz9Yz7bUkYRn5AyBkcxpa',
    'u:$apr1$salt$P1kN5pZkQrxzdmYJ9bQ3K0',
    'u:$1$salt$x',
    'u:$5$rounds=1000$salt$x',
    'u:$6$rounds=1000$salt$x',
    'u:$2y$04$abcdefghijklmnopqrstuuDtFzbMhKzCbJEvNNtmXxGJm3YRNvCqK',
    'u:abJnggxhB/yWI',
    '# comment',
    ':x',
    'u:',
  ];
  const mutations = new Mutations(15, [
    '$',
    ':',
    '{',
    '}',
    '\n',
    '\r',
    '\0',
    '\xff',
    '$2y$',
    '$5$',
    '{SSHA}',
    'rounds=',
    '=',
    '#',
    'x'.repeat(200),
  ]);
  for (let i = trials(600); i > 0; i--) {
    const text = mutations.mutated(entries);
    for (const stored of parseUsers(text).values()) {
      // What is slow on purpose would only make this slow.
      if (/^\$2[aby]\$(?!04)|rounds=(?!1000\$)/.test(stored)) {
        continue;
      }
      if (typeof (await crypt('secret', stored)) !== 'string') {
        t.fail(JSON.stringify(text));
      }
    }
  }
  t.pass();
});
