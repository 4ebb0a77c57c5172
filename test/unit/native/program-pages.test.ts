import { readFileSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { programPages, unchangedParts } from '../../../src/shared/native/program-pages.js';

const part = (head: string, anonymous: number): string =>
  `${head}\nSize: 8 kB\nRss: 8 kB\nPss: 4 kB\nAnonymous:         ${anonymous} kB\nLazyFree: 0 kB\nVmFlags: rd mr mw me\n`;

t.test('only what is mapped of files that stay, cannot be written and was not changed is let go', async (t) => {
  const smaps = [
    part('00400000-00500000 r--p 00000000 08:01 17                                 /usr/bin/node', 0),
    part('00500000-00501000 r--p 00100000 08:01 17                                 /usr/bin/node', 4),
    part('00501000-00511000 r-xp 00101000 08:01 17                                 /usr/bin/node', 0),
    part('00511000-00512000 rw-p 00111000 08:01 17                                 /usr/bin/node', 0),
    part('00512000-00513000 r--s 00111000 08:01 17                                 /usr/bin/node', 0),
    part('7f0000000000-7f0000010000 r-xp 00000000 08:01 18                         /usr/lib/libc.so.6', 0),
    part('7f0000010000-7f0000020000 r-xp 00000000 00:00 0 ', 0),
    part('7fff00000000-7fff00010000 r-xp 00000000 08:01 17                         /usr/bin/node (deleted)', 0),
    part('7fff00020000-7fff00030000 r-xp 00000000 08:01 19                         /usr/lib/libstdc++.so.6.0.30', 0),
    part('7fff00040000-7fff00050000 r-xp 00000000 08:01 20                         /srv/node_modules/addon/libc-addon/addon.node', 0),
    part('7fff00060000-7fff00070000 r-xp 00000000 08:01 21                         /srv/node_modules/sharp/libcairo.so.2', 0),
    part('7fff00080000-7fff00090000 r-xp 00000000 08:01 22                         /lib64/ld-linux-x86-64.so.2', 0),
  ].join('');
  t.strictSame(unchangedParts(smaps, '/usr/bin/node'), [
    { address: 0x400000, length: 0x100000 },
    { address: 0x501000, length: 0x10000 },
    { address: 0x7f0000000000, length: 0x10000 },
    { address: 0x7fff00020000, length: 0x10000 },
    { address: 0x7fff00080000, length: 0x10000 },
  ]);
});

t.test('pages of the executable that were let go come back', async (t) => {
  const mapped = (): number => {
    const file = readlinkSync('/proc/self/exe');
    let sum = 0;
    let ours = false;
    for (const line of readFileSync('/proc/self/smaps', 'latin1').split('\n')) {
      ours = /^[0-9a-f]+-/.test(line) ? line.endsWith(` ${file}`) : ours;
      sum += ours ? Number(/^Rss: +(\d+)/.exec(line)?.[1] ?? 0) : 0;
    }
    return sum;
  };
  const letGo = programPages();
  const before = mapped();
  letGo();
  t.ok(mapped() < before * 0.7, `of ${before} kB`);
  t.strictSame(
    [1, 5, 3].sort((a, b) => a - b),
    [1, 3, 5],
  );
  t.match(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0), '1/1/1970');
});
