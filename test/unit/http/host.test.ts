import t from 'tap';
import { validateHost } from '../../../src/worker/http/syntax/host.js';

// Which hosts are good is in test/protocol/host.md.

const out = { host: 'kept', port: 1 };
t.notOk(validateHost('a..b', out));
t.strictSame(out, { host: 'kept', port: 1 }, 'a bad host changes nothing');
t.ok(validateHost('EXAMPLE.com.:0080', out));
t.strictSame(out, { host: 'example.com', port: 80 });
t.ok(validateHost('[FE80::1]', out));
t.strictSame(out, { host: '[fe80::1]', port: 0 });
t.notOk(validateHost('', out));
t.notOk(validateHost('\xc0', out), 'a byte that is a capital in latin1 only');
