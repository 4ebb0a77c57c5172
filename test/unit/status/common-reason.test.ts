import t from 'tap';
import { commonReason } from '../../../src/worker/modules/status-zone/common-reason.js';

t.test('reasons keep the words of the configuration and lose those of clients', async (t) => {
  for (const [reason, common] of [
    ['access forbidden by rule "deny all" in /etc/sluice.conf:7', 'access forbidden by rule "deny all" in /etc/sluice.conf:7'],
    ['limiting requests, excess: 0.935 by zone "one"', 'limiting requests by zone "one"'],
    ['location "/x" is internal', 'location "/x" is internal'],
    ['open() "/a/b" failed (2: No such file or directory)', 'open() "..." failed (2: No such file or directory)'],
    ['open() "/a"b" by zone "c" failed (2: No such file or directory)', 'open() "..." failed (2: No such file or directory)'],
    ['"/a" leads out of the root of location "/b"', '"..."'],
    ['rule "x" of user "y"', 'rule "x" of user "..."'],
    ['client intended to send too large chunked body: 10+20 bytes', 'client intended to send too large chunked body'],
    ['127.0.0.1:80: upstream sent invalid header: "a\x01"', '127.0.0.1:80: upstream sent invalid header: "..."'],
    ['evil.example could not be resolved (3: Host not found)', 'a name could not be resolved (3: Host not found)'],
    ['one " alone', 'one "..."'],
    ['\x1b[31m\n\xff', '?[31m??'],
    [`"${'"'.repeat(100_000)}`, '"..."'],
  ] as const) {
    t.equal(commonReason(reason), common);
  }
  t.equal(commonReason('x'.repeat(1000)).length, 200);
});
