import t from 'tap';
import { type InputStream, RequestInput } from '../../../src/worker/http/multiplexed/request-input.js';
import type { BodySink } from '../../../src/worker/http/request/client-exchange.js';

/** As much of a stream as its input asks for. */
function streamOf(): InputStream {
  const location = { conf: () => ({ clientBodyTimeout: 60_000 }) };
  const head = { chunked: true, contentLength: -1 };
  const request = { head, contentLength: -1, chunkedIn: true, requestLength: 0, location, log() {} };
  return {
    request,
    inClosed: false,
    closed: false,
    upgradeKey: '',
    action: undefined,
    time() {},
    stopTime() {},
    bodyWanted() {},
    bodyUsed() {},
  } as never;
}

// On io_uring several reads are served before what waits for the end of the tick.
t.test('an end that comes between a sink asking for more and its turn follows what is held', async (t) => {
  const stream = streamOf();
  const input = new RequestInput(stream);
  const events: string[] = [];
  let room = false;
  const sink: BodySink = {
    room: 65_536,
    data(bytes, start, end) {
      events.push(bytes.toString('latin1', start, end));
      return room;
    },
    end: () => void events.push('end'),
    fail: (status) => void events.push(`${status}`),
  };
  input.read(sink);
  const give = (text: string): void => input.data(Buffer.from(text), 0, text.length, 0);
  give('one');
  give('two');
  room = true;
  input.resume();
  (stream as { inClosed: boolean }).inClosed = true;
  input.ended();
  t.strictSame(events, ['one'], 'nothing overtakes what is held');
  await new Promise(setImmediate);
  t.strictSame(events, ['one', 'two', 'end']);
});
