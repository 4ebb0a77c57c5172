import t from 'tap';
import {
  BROKEN,
  CONTENT,
  NEED_MORE,
  PAIR,
  paramRecords,
  RECORD,
  RECORD_BEGIN,
  RecordReader,
} from '../../../src/worker/modules/fastcgi/records.js';

const record = (type: number, content: string, padding = 0): string =>
  String.fromCharCode(1, type, 0, 1, content.length >> 8, content.length & 255, padding, 0) + content + '\0'.repeat(padding);

/** Reads pieces to their end, as events in a text; contents of one record are joined. */
function read(pieces: readonly string[]): string {
  const reader = new RecordReader();
  let events = '';
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    for (let at = 0; ; at = reader.next) {
      const code = reader.read(bytes, at, bytes.length);
      if (code === NEED_MORE) {
        break;
      }
      if (code === BROKEN) {
        return `${events}!${reader.reason}`;
      }
      if (code === RECORD_BEGIN) {
        events += `<${reader.type}:${reader.length}:`;
      } else if (code === CONTENT) {
        events += bytes.toString('latin1', reader.start, reader.end);
      } else {
        events += '>';
      }
    }
  }
  return events;
}

t.test('records are taken apart wherever their bytes are cut', async (t) => {
  const stream =
    record(RECORD.STDOUT, 'head', 4) + record(RECORD.STDERR, 'oops') + record(RECORD.STDOUT, '', 3) + record(RECORD.END, '12345678');
  const expected = '<6:4:head><7:4:oops><6:0:><3:8:12345678>';
  t.equal(read([stream]), expected);
  t.equal(read([...stream]), expected);
  for (let cut = 1; cut < stream.length; cut++) {
    t.equal(read([stream.slice(0, cut), stream.slice(cut)]), expected, `cut at ${cut}`);
  }
});

t.test('content given back is read again', async (t) => {
  const reader = new RecordReader();
  const bytes = Buffer.from(record(RECORD.STDOUT, 'headbody'), 'latin1');
  t.equal(reader.read(bytes, 0, bytes.length), RECORD_BEGIN);
  t.equal(reader.read(bytes, reader.next, bytes.length), CONTENT);
  reader.unread(4);
  t.equal(reader.read(bytes, reader.next, bytes.length), CONTENT);
  t.equal(bytes.toString('latin1', reader.start, reader.end), 'body');
});

t.test('what is no record of a response is refused at its first wrong byte', async (t) => {
  t.equal(read(['H']), '!unsupported FastCGI protocol version: 72');
  t.equal(read(['\x01', '\x05']), '!invalid FastCGI record type: 5');
  t.equal(read(['\x01\x06\x02']), '!unexpected FastCGI request id high byte: 2');
  t.equal(read(['\x01\x06\0\x07']), '!unexpected FastCGI request id low byte: 7');
});

t.test('parameters', async (t) => {
  t.equal(PAIR.before('A', 1), '\x01\x01A');
  t.equal(PAIR.before('A', 300), '\x01\x80\0\x01\x2cA');
  t.equal(paramRecords('abc'), '\x01\x04\0\x01\0\x03\x05\0abc\0\0\0\0\0\x01\x04\0\x01\0\0\0\0');
  t.equal(paramRecords('a'.repeat(65536)), undefined, 'too long for a record');
});
