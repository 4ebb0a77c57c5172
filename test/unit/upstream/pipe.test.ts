import t from 'tap';
import type { Request } from '../../../src/worker/http/request/request.js';
import { FairShare } from '../../../src/worker/time/fair-share.js';
import { ResponsePipe } from '../../../src/worker/upstream/exchange/pipe.js';
import type { ResponseBodyReader } from '../../../src/worker/upstream/exchange/response-body-reader.js';
import type { UpstreamRequest } from '../../../src/worker/upstream/exchange/upstream-request.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** A request whose client takes everything at once, as a filter that compresses does, and what happens to its backend's connection. */
function drained(fairShare: FairShare) {
  const state = { reading: true, taken: 0 };
  const r = {
    http: { fairShare },
    first: {
      send(_r: Request, chunk: Buffer | null) {
        state.taken += chunk?.length ?? 0;
        pipe.pull(r);
      },
    },
  } as unknown as Request;
  const pipe: ResponsePipe = new ResponsePipe(
    {
      r,
      tee: null,
      conf: { settings: { buffers: { number: 8, size: 4096 }, maxTempFileSize: 0 } },
    } as unknown as UpstreamRequest,
    { pause: () => (state.reading = false), resume: () => (state.reading = true) } as unknown as ResponseBodyReader,
    true,
  );
  pipe.pull(r);
  /** The backend sends for as long as it is read. */
  const pour = (): number => {
    let pieces = 0;
    while (state.reading) {
      pipe.add(PIECE, 0, PIECE.length);
      t.ok(pipe.settle(PIECE.length));
      pieces++;
    }
    return pieces;
  };
  return { state, pour };
}

t.test('backends that send without end share a turn of the event loop', async (t) => {
  const turns = new FairShare();
  const [a, b] = [drained(turns), drained(turns)];
  t.equal(a.pour(), 16, 'a megabyte is the share of a turn');
  t.equal(b.pour(), 1, 'of all together');
  t.equal(a.state.taken, 16 * PIECE.length, 'what was read has gone on');
  await new Promise((done) => setImmediate(done));
  t.ok(a.state.reading && b.state.reading, 'both go on in the next');
  t.equal(b.pour(), 16);
});

t.test('a response that comes byte by byte is passed on by whole buffers', (t) => {
  const sent: Buffer[] = [];
  const kept: number[] = [];
  const r = {
    http: { fairShare: new FairShare() },
    first: { send: (_r: Request, chunk: Buffer | null) => void (chunk !== null && sent.push(chunk)) },
  } as unknown as Request;
  const pipe = new ResponsePipe(
    {
      r,
      tee: { write: (_bytes: Buffer, start: number, end: number) => void kept.push(end - start) },
      conf: { settings: { buffers: { number: 8, size: 4096 }, maxTempFileSize: 0 } },
    } as unknown as UpstreamRequest,
    { resume: () => {} } as unknown as ResponseBodyReader,
    true,
  );
  const byte = Buffer.alloc(1);
  for (let i = 0; i < 10_000; i++) {
    byte[0] = i;
    pipe.add(byte, 0, 1);
    pipe.settle(1);
    pipe.own();
  }
  t.equal(kept.length, 10_000);
  pipe.pull(r);
  pipe.finish(true);
  pipe.pull(r);
  t.strictSame(Buffer.concat(sent), Buffer.from(Array.from({ length: 10_000 }, (_, i) => i & 255)));
  t.equal(sent.length, 1);
  t.end();
});
