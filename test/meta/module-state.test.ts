import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/**
 * What a module may hold that changes, of which there is one in each thread:
 *
 * - `loads`: a part of Node, of the system or of a package, or a file of ours; looked up once, and the same ever after
 * - `memory`: memory and objects that are used up, or given back, before somebody else has them
 * - `value`: what came of a calculation, of which nothing else depends than its time; bounded
 * - `numbers`: a number that only grows, so that no two are equal
 * - `process`: what the process, or the thread, is at by itself
 */
type Kind = 'loads' | 'memory' | 'value' | 'numbers' | 'process';

/** How many variables, arrays, maps and sets at the outermost level of a file change, and of which kinds they are. */
const STATE: { readonly [file: string]: readonly [number, ...Kind[]] } = {
  'master/processes/try-ring.ts': [1, 'loads'],
  'worker/text/http-date.ts': [1, 'value'],
  'shared/native/event-loop.ts': [1, 'loads'],
  'shared/native/native.ts': [3, 'loads'],
  'worker/digest/random-bytes.ts': [2, 'memory'],
  'worker/jose/jose-package.ts': [1, 'loads'],
  'worker/js/handlers/node-http.ts': [1, 'loads'],
  'shared/time/time-format.ts': [2, 'value'],
  'shared/log/lost-lines.ts': [1, 'numbers'],
  'shared/log/winston.ts': [1, 'loads'],
  'shared/net/datagram-handle.ts': [3, 'loads', 'memory'],
  'shared/net/handle-pipe.ts': [2, 'loads', 'process'],
  'shared/net/joined.ts': [2, 'memory'],
  'worker/modules/auth-oidc/oauth-package.ts': [1, 'loads'],
  'worker/net/openssl/certificate-compression.ts': [2, 'loads'],
  'worker/net/openssl/context-commands.ts': [2, 'loads'],
  'worker/net/openssl/library.ts': [1, 'loads'],
  'worker/net/left-errors.ts': [1, 'loads'],
  'worker/net/openssl/early-data.ts': [2, 'loads'],
  'worker/net/openssl/handshake-handle.ts': [1, 'loads'],
  'worker/net/openssl/record-layer.ts': [2, 'memory'],
  'worker/http/http3/stream.ts': [1, 'value'],
  'worker/http/listening/quic-listener.ts': [2, 'process'],
  'worker/net/openssl/packet-keys.ts': [1, 'loads'],
  'worker/bytes/gathered.ts': [1, 'memory'],
  'worker/bytes/keep.ts': [2, 'memory'],
  'worker/net/openssl/quic-handshake.ts': [2, 'loads', 'process'],
  'worker/net/openssl/quic-library.ts': [1, 'loads'],
  'worker/net/quic/sent-packets.ts': [1, 'memory'],
  'worker/net/openssl/records.ts': [3, 'loads', 'process'],
  'worker/net/handle-connect.ts': [1, 'loads'],
  'worker/net/handle-socket.ts': [4, 'loads', 'memory'],
  'shared/net/connection-handle.ts': [1, 'value'],
  'shared/net/socket-addresses.ts': [1, 'value'],
  'shared/net/handle-binding.ts': [2, 'loads', 'memory'],
  'worker/net/tls-binding.ts': [1, 'loads'],
  'worker/net/cipher-socket.ts': [3, 'loads', 'memory'],
  'shared/net/uring/bell.ts': [1, 'process'],
  'shared/net/uring/turns.ts': [1, 'process'],
  'worker/net/uring/uring-datagram-socket.ts': [3, 'memory'],
  'shared/regex/parse.ts': [2, 'value'],
  'shared/zone/sqlite.ts': [1, 'loads'],
  'worker/acme-process/client.ts': [1, 'loads'],
  'worker/acme-process/issue-certificate.ts': [1, 'loads'],
  'worker/fleet/connection.ts': [1, 'loads'],
  'worker/cache/index-zone.ts': [1, 'numbers'],
  'worker/cache/writer.ts': [1, 'numbers'],
  'worker/cgi/params.ts': [1, 'value'],
  'worker/task/at-work.ts': [2, 'process'],
  'worker/task/client-task.ts': [1, 'numbers'],
  'worker/task/settings-slot.ts': [1, 'numbers'],
  'worker/http/body/kept-stream.ts': [3, 'memory'],
  'worker/http/body/zstd.ts': [1, 'memory'],
  'worker/http/fields/huffman-decode.ts': [1, 'value'],
  'worker/http/fields/huffman-text.ts': [1, 'memory'],
  'worker/http/http1/response-head.ts': [3, 'value'],
  'worker/http/http2-frames/hpack/encoder.ts': [1, 'value'],
  'worker/http/http2-frames/hpack/field-table.ts': [1, 'value'],
  'worker/http/http2-frames/output.ts': [2, 'memory'],
  'worker/http/http3-frames/qpack/name-code.ts': [1, 'value'],
  'worker/http/http3-frames/qpack/table.ts': [1, 'value'],
  'worker/http/request/request.ts': [1, 'numbers'],
  'worker/http/request/response-status.ts': [1, 'value'],
  'worker/http/request/temp-file.ts': [1, 'numbers'],
  'worker/http/syntax/header-names.ts': [3, 'value'],
  'worker/http/syntax/uri.ts': [1, 'memory'],
  'worker/js/handlers/fetch-handler.ts': [1, 'loads'],
  'worker/js/handlers/isolate-thread.ts': [6, 'process'],
  'worker/js/handlers/light-request.ts': [1, 'loads'],
  'worker/js/handlers/light-response.ts': [1, 'loads'],
  'worker/js/handlers/watchdog-thread.ts': [6, 'process'],
  'worker/js/late-parts.ts': [2, 'loads'],
  'worker/js/source-maps.ts': [1, 'loads'],
  'worker/js/put-off.ts': [3, 'process'],
  'worker/js/task.ts': [1, 'process'],
  'worker/modules/dashboard/page.ts': [1, 'loads'],
  'worker/modules/image-filter/sharp-package.ts': [1, 'loads'],
  'worker/modules/mp4/scratch.ts': [2, 'memory'],
  'worker/modules/userid/uid.ts': [2, 'numbers'],
  'tools/rehearsal/rehearsal.ts': [1, 'process'],
  'worker/trace/export-thread.ts': [2, 'process'],
  'worker/upstream/http2/window-growth.ts': [1, 'process'],
};

// A weak collection is left out: what it has belongs to its keys. So is an array, a map or a set whose type says that nobody changes it.
const CHANGES =
  /^(?:export )?(?:let \w+|const \w+(?:: (?!Readonly|readonly )[^=]+(?:=> [^=]+)?)? = (?:new (?:Map|Set)(?:<.*>)?\(\)|\[\]);)/gm;

t.test('what changes at the outermost level is known', async (t) => {
  const found: Record<string, number> = {};
  for (const file of filesBelow('src', '.ts')) {
    const count = readFileSync(`${root}src/${file}`, 'utf8').match(CHANGES)?.length ?? 0;
    if (count > 0) {
      found[file] = count;
    }
  }
  t.strictSame(found, Object.fromEntries(Object.entries(STATE).map(([file, [count]]) => [file, count])));
});

t.test('a setting or a connection at the outermost level would be found', async (t) => {
  const some = 'let settings: Settings | undefined;\nconst open: Connection[] = [];\nconst byName = new Map<string, Zone>();\n';
  t.equal(some.match(CHANGES)?.length, 3);
  t.equal('const none: readonly string[] = [];\nconst views = new WeakMap<object, View>();\n  let inside = 1;\n'.match(CHANGES), null);
});
