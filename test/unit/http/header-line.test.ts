import t from 'tap';
import { HeaderLine, LINE_AGAIN, LINE_END, LINE_HEADER, LINE_IGNORED, LINE_INVALID } from '../../../src/worker/http/syntax/header-line.js';
import { findKnownHeader, HeaderSlot, slotNames } from '../../../src/worker/http/syntax/header-names.js';

// What header lines mean in requests is in test/protocol/headers.md; here is what responses have besides.

t.test('lines of an upstream', async (t) => {
  const text = '..Server: x\r\nHTTP/1.1 200 OK\r\nSet_Cookie: a=b \r\nBad@Name: c\r\n\r\n';
  const bytes = Buffer.from(text, 'latin1');
  const line = new HeaderLine(true, true);
  line.begin(text.slice(2), 2);
  t.equal(line.scan(bytes, 2, bytes.length), LINE_HEADER);
  t.strictSame([line.name(), line.value(), line.known?.lower], ['Server', 'x', 'server']);
  t.equal(line.scan(bytes, line.next, bytes.length), LINE_IGNORED, 'a repeated status line');
  t.equal(line.scan(bytes, line.next, bytes.length), LINE_HEADER);
  t.strictSame([line.name(), line.value(), line.known, line.invalidName], ['Set_Cookie', 'a=b', undefined, false]);
  t.equal(line.scan(bytes, line.next, bytes.length), LINE_HEADER);
  t.strictSame([line.name(), line.value(), line.invalidName], ['Bad@Name', 'c', true]);
  t.equal(line.scan(bytes, line.next, bytes.length - 1), LINE_AGAIN);
  t.equal(line.scan(bytes, line.next, bytes.length), LINE_END);
  t.equal(line.next, bytes.length);
});

t.test('an invalid line is quoted up to its bad byte', async (t) => {
  const text = 'Na me: x\r\n';
  const line = new HeaderLine(true, true);
  line.begin(text, 0);
  t.equal(line.scan(Buffer.from(text), 0, text.length), LINE_INVALID);
  t.equal(line.quoteInvalid(Buffer.from(text)), '"Na\\x20..."');
});

t.test('known names', async (t) => {
  const find = (name: string) => findKnownHeader(Buffer.from(name, 'latin1'), 0, name.length);
  const names = Object.keys(HeaderSlot).map((key) => key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`));
  t.equal(new Set(Object.values(HeaderSlot)).size, slotNames.length);
  t.equal(Math.max(...Object.values(HeaderSlot)), slotNames.length - 1);
  for (const name of names) {
    const slot = HeaderSlot[name.replace(/-./g, (c) => c[1]!.toUpperCase()) as keyof typeof HeaderSlot];
    for (const spelling of [name, name.toUpperCase(), name.replace(/\b./g, (c) => c.toUpperCase())]) {
      const known = find(spelling);
      t.equal(known?.slot, slot, spelling);
      t.equal(known?.lower, name, spelling);
      t.ok(known?.name === spelling || known?.name === '', spelling);
    }
  }
  t.equal(find('ETag')?.slot, -1);
  t.equal(find('ETag')?.name, 'ETag');
  t.equal(find('X-Unknown'), undefined);
  t.equal(find('Hos'), undefined);
  t.equal(find('Hosta'), undefined);
});
