import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/**
 * Who may have memory that was not filled with zeros, how often, and why nobody gets bytes of it that nobody has written: its length is
 * counted of what is copied into it (`copies`), only as much is handed on as was read (`reads`), or only as much as was made (`makes`).
 */
const UNFILLED: { readonly [file: string]: readonly [uses: number, kind: 'copies' | 'reads' | 'makes', why: string] } = {
  'tools/logs/log-tail.ts': [1, 'reads', 'lines of the count of bytes that readSync gave'],
  'shared/config/read-file.ts': [1, 'reads', 'a file of another length is refused'],
  'worker/digest/random-bytes.ts': [1, 'makes', 'randomFillSync fills all of it before its first use'],
  'shared/net/joined.ts': [1, 'copies', 'a part as long as the two texts and the bytes'],
  'worker/net/openssl/record-layer.ts': [2, 'reads', 'OpenSSL says how much it made'],
  'worker/net/handle-socket.ts': [2, 'reads', 'the socket says how much it read'],
  'worker/net/thread-file-reads.ts': [3, 'reads', 'cut to the count of bytes that were read'],
  'worker/net/cipher-socket.ts': [1, 'reads', 'the socket says how much it read'],
  'shared/net/uring/bell.ts': [1, 'reads', 'nobody looks at it'],
  'worker/cache/entry.ts': [4, 'reads', 'less than the file holds is damage, and the table is compared with its checksum'],
  'worker/cache/walk.ts': [2, 'reads', 'cut to the count of bytes that were read'],
  'worker/http/body/kept-stream.ts': [1, 'makes', 'cut to as much as the compressor made'],
  'worker/http/body/zstd.ts': [1, 'makes', 'as much as the compressor made is copied from it'],
  'worker/http/files/open-file.ts': [1, 'reads', 'cut to the count of bytes that were read'],
  'worker/http/http1/client-input.ts': [1, 'copies', 'as long as what was kept and what came'],
  'worker/http/http2-frames/frame-reader.ts': [1, 'copies', 'counted while it is filled'],
  'worker/http/fields/huffman-text.ts': [2, 'makes', 'a text of as much as was decoded'],
  'worker/http/http2-frames/output.ts': [3, 'copies', 'counted while it is filled: each frame is as long as its payload'],
  'worker/http/syntax/head-parser.ts': [2, 'copies', 'counted while it is filled'],
  'worker/http/syntax/uri.ts': [2, 'makes', 'a text of as much as was decoded'],
  'worker/bytes/gathered.ts': [4, 'copies', 'pieces end where the bytes that were copied do; sums are made of the pieces themselves'],
  'worker/js/handlers/handler-input.ts': [1, 'copies', 'as long as the bytes'],
  'worker/modules/charset/recode.ts': [2, 'copies', 'each byte is set; the sum is made of the same texts'],
  'worker/modules/grpc/web-exchange.ts': [1, 'copies', 'as long as the text and its head'],
  'worker/resolver/name-server.ts': [1, 'reads', 'an answer that came whole'],
};

/**
 * Memory that leaves the process was written in full: a length that was counted apart from what fills the memory once sent other clients'
 * bytes to a backend. `Buffer.alloc` and `Buffer.concat` fill with zeros what is left over.
 */
t.test('memory that is not filled with zeros', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${file}`, 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const uses = text.match(/\ballocUnsafe(?:Slow)?\b|\bSlowBuffer\b|\bnew Buffer\(/g)?.length ?? 0;
    t.equal(uses, UNFILLED[file]?.[0] ?? 0, `${file}: use Buffer.alloc or Buffer.concat, or say here why no byte is left unwritten`);
  }
  t.strictSame(
    Object.keys(UNFILLED).filter((file) => !filesBelow('src', '.ts').includes(file)),
    [],
    'files that are no more',
  );
});
