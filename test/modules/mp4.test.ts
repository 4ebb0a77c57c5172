// Long, since one film serves all of it: what is left of it, and each way in which its file can be broken.
import { statSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import {
  atom,
  type FilmParts,
  fileType,
  filmFile,
  filmFileIndexLast,
  index,
  longAtom,
  type TrackParts,
  u32,
  u64,
} from '../support/film.js';
import { exchange, http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

/** Sizes of so many samples, each one byte longer than the one before. */
const growing = (count: number, first: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const same = (count: number, size: number): number[] => Array.from({ length: count }, () => size);
const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

const pictureSizes = growing(20, 10);
const soundSizes = same(40, 3);

/** Two seconds: twenty pictures, four in each chunk, and forty pieces of sound, eight in each chunk, in turns. */
const places: { readonly pictures: number[]; readonly sound: number[] } = { pictures: [], sound: [] };
let at = 0;
for (let i = 0; i < 5; i++) {
  places.pictures.push(at);
  at += sum(pictureSizes.slice(4 * i, 4 * i + 4));
  places.sound.push(at);
  at += 24;
}
const samples = Buffer.from(Array.from({ length: at }, (_, i) => (i * 13 + (i >> 8)) % 251));

const pictures: TrackParts = {
  timescale: 1000,
  duration: 2000,
  filmDuration: 1200,
  kind: 'vmhd',
  times: [[20, 100]],
  keyFrames: [1, 6, 11, 16],
  offsets: [
    [5, 20],
    [15, 40],
  ],
  chunks: [[1, 4, 1]],
  sizes: pictureSizes,
  places: places.pictures,
};
const sound: TrackParts = {
  timescale: 8000,
  duration: 16_000,
  filmDuration: 1200,
  kind: 'smhd',
  times: [[40, 400]],
  chunks: [[1, 8, 1]],
  sizes: soundSizes,
  places: places.sound,
};
const film: FilmParts = { timescale: 600, duration: 1200, tracks: [pictures, sound], samples };

/** What is left of the film: its samples from one place to another. */
const left = (from: number, to: number, duration: number, tracks: readonly TrackParts[], version: 0 | 1 = 0): FilmParts => ({
  timescale: 600,
  duration,
  version,
  samples: samples.subarray(from, to),
  tracks: tracks.map((track) => ({ ...track, version, places: track.places.map((place) => place - from) })),
});

/** The second picture of the second chunk, and the third piece of sound of that. */
const halfPictures = places.pictures[1]! + 14;
const halfSound = places.sound[1]! + 6;
const fromHalf = left(halfPictures, samples.length, 900, [
  {
    ...pictures,
    duration: 1500,
    filmDuration: 900,
    times: [[15, 100]],
    keyFrames: [1, 6, 11],
    offsets: [[15, 40]],
    chunks: [
      [1, 3, 1],
      [2, 4, 1],
    ],
    sizes: pictureSizes.slice(5),
    places: [halfPictures, ...places.pictures.slice(2)],
  },
  {
    ...sound,
    duration: 12_000,
    filmDuration: 900,
    times: [[30, 400]],
    chunks: [
      [1, 6, 1],
      [2, 8, 1],
    ],
    sizes: soundSizes.slice(10),
    places: [halfSound, ...places.sound.slice(2)],
  },
]);
const toHalf = left(0, places.sound[1]! + 6, 300, [
  {
    ...pictures,
    duration: 500,
    filmDuration: 300,
    times: [[5, 100]],
    keyFrames: [1],
    offsets: [
      [5, 20],
      [0, 40],
    ],
    chunks: [
      [1, 4, 1],
      [2, 1, 1],
    ],
    sizes: pictureSizes.slice(0, 5),
    places: places.pictures.slice(0, 2),
  },
  {
    ...sound,
    duration: 4000,
    filmDuration: 300,
    times: [[10, 400]],
    chunks: [
      [1, 8, 1],
      [2, 2, 1],
    ],
    sizes: soundSizes.slice(0, 10),
    places: places.sound.slice(0, 2),
  },
]);
/** From 0.5 to 1.25 seconds. */
const middle = (version: 0 | 1 = 0): FilmParts =>
  left(
    halfPictures,
    places.sound[3]! + 3,
    450,
    [
      {
        ...pictures,
        duration: 750,
        filmDuration: 450,
        times: [[7, 100]],
        keyFrames: [1, 6],
        offsets: [[7, 40]],
        chunks: [
          [1, 3, 1],
          [2, 4, 1],
        ],
        sizes: pictureSizes.slice(5, 12),
        places: [halfPictures, places.pictures[2]!],
      },
      {
        ...sound,
        duration: 6000,
        filmDuration: 450,
        times: [[15, 400]],
        chunks: [
          [1, 6, 1],
          [2, 8, 1],
          [3, 1, 1],
        ],
        sizes: soundSizes.slice(10, 25),
        places: [halfSound, places.sound[2]!, places.sound[3]!],
      },
    ],
    version,
  );

const conf = serverConf(`types { video/mp4 mp4; }
  location / { mp4; }
  location /key/ { mp4; mp4_start_key_frame on; alias %%DIR%%/html/; }
  location /include/ { ssi on; ssi_types *; alias %%DIR%%/html/; }`);
const whole = filmFile(film);
const files = { 'html/a.mp4': whole, 'html/last.mp4': filmFileIndexLast(film), 'html/f/index.html': 'the index' };

/** Serves whoever needs no other configuration: a server's start takes longer than all that one of these tests asks. */
const s = await startServer(t, { conf, files });

t.test('what is left of a film', async (t) => {
  const rows: readonly (readonly [args: string, expected: FilmParts])[] = [
    ['start=0.5', fromHalf],
    ['start=.5', fromHalf],
    ['start=0.500999', fromHalf],
    ['start=00.5000000000000000000000000000000', fromHalf],
    ['START=0.5', fromHalf],
    ['x=1&start=0.5&start=1', fromHalf],
    ['start=0.5&end=0.5', fromHalf],
    ['start=0.5&end=0.2', fromHalf],
    ['start=0.5&end=0', fromHalf],
    ['start=0.5&end=x', fromHalf],
    ['start=0.5&end=', fromHalf],
    ['start=0.5&end=-1', fromHalf],
    ['end=0.5', toHalf],
    ['start=&end=0.5', toHalf],
    ['start=x&end=0.5', toHalf],
    ['start=-1&end=0.5', toHalf],
    ['start=0&end=.5', toHalf],
    ['end=1.25&start=0.5', middle()],
  ];
  for (const [args, expected] of rows) {
    for (const name of ['a', 'last']) {
      const response = await httpGet(s, `/${name}.mp4?${args}`);
      const bytes = filmFile(expected);
      t.equal(response.status, 200, args);
      t.equal(response.header('content-length'), String(bytes.length), args);
      t.equal(response.header('content-type'), 'video/mp4');
      t.equal(response.header('accept-ranges'), 'bytes');
      t.ok(response.body.equals(bytes), `${name}.mp4?${args}`);
    }
  }
});

t.test('the whole film', async (t) => {
  for (const args of [
    '',
    '?',
    '?start',
    '?start=x',
    '?start=',
    '?start=-1',
    '?start=1.1.1',
    '?start=1e0',
    '?start=9223372036854775.808',
    '?end=x',
  ]) {
    t.ok((await httpGet(s, `/a.mp4${args}`)).body.equals(whole), args);
    t.ok((await httpGet(s, `/last.mp4${args}`)).body.equals(files['html/last.mp4']), args);
  }
  for (const args of ['?start=0', '?start=.', '?start=0.0009', '?end=0&start=0']) {
    t.ok((await httpGet(s, `/a.mp4${args}`)).body.equals(whole), args);
    t.ok((await httpGet(s, `/last.mp4${args}`)).body.equals(whole), `the index comes first with ${args}`);
  }
});

t.test('a film that begins with a key frame', async (t) => {
  const from = places.pictures[1]! + 14;
  const expected = left(from, samples.length, 720, [
    {
      ...pictures,
      duration: 1500,
      filmDuration: 720,
      edit: { duration: 720, from: 300 },
      times: [[15, 100]],
      keyFrames: [1, 6, 11],
      offsets: [[15, 40]],
      chunks: [
        [1, 3, 1],
        [2, 4, 1],
      ],
      sizes: pictureSizes.slice(5),
      places: [from, ...places.pictures.slice(2)],
    },
    {
      ...sound,
      duration: 9600,
      filmDuration: 720,
      times: [[24, 400]],
      chunks: [[1, 8, 1]],
      sizes: soundSizes.slice(16),
      places: places.sound.slice(2),
    },
  ]);
  t.ok((await httpGet(s, '/key/a.mp4?start=0.8')).body.equals(filmFile(expected)));
  t.notOk((await httpGet(s, '/a.mp4?start=0.8')).body.equals(filmFile(expected)));
  t.ok((await httpGet(s, '/key/a.mp4?start=0.5')).body.equals(filmFile(fromHalf)), 'a key frame itself');
});

t.test('64 bits, atoms that players do not need, their order', async (t) => {
  const version = 1;
  const tracks = film.tracks.map((track) => ({ ...track, version, extras: true }) as const);
  const wide: FilmParts = { ...film, version, tracks: tracks.map((track) => ({ ...track, wide: true })) };
  const cut = middle(version);
  const cutWide: FilmParts = { ...cut, tracks: cut.tracks.map((track) => ({ ...track, wide: true })) };
  const type = fileType();
  const free = atom('free', Buffer.alloc(5000, 'f'));
  const shift = type.length + free.length + 16;
  const s = await startServer(t, {
    conf,
    files: {
      'html/version.mp4': filmFile({ ...film, version, tracks }),
      'html/wide.mp4': filmFile(wide),
      'html/long.mp4': Buffer.concat([
        type,
        free,
        longAtom('mdat', samples),
        free,
        longAtom('moov', index(wide, shift).subarray(8)),
        u32(0),
        Buffer.from('what follows is nothing'),
      ]),
    },
  });
  t.ok((await httpGet(s, '/version.mp4?start=0.5&end=1.25')).body.equals(filmFile(cut)));
  t.ok((await httpGet(s, '/wide.mp4?start=0.5&end=1.25')).body.equals(filmFile(cutWide)));
  t.ok((await httpGet(s, '/long.mp4?start=0.5&end=1.25')).body.equals(filmFile(cutWide)));
});

t.test('tracks that end before the start', async (t) => {
  const short: TrackParts = {
    ...sound,
    duration: 3200,
    filmDuration: 240,
    times: [[8, 400]],
    places: places.sound.slice(0, 1),
    sizes: same(8, 3),
  };
  const s = await startServer(t, {
    conf,
    files: { 'html/short.mp4': filmFile({ ...film, tracks: [short, pictures] }), 'html/only.mp4': filmFile({ ...film, tracks: [short] }) },
  });
  const expected = { ...fromHalf, tracks: [fromHalf.tracks[0]!] };
  t.ok((await httpGet(s, '/short.mp4?start=0.5')).body.equals(filmFile(expected)));
  t.equal((await httpGet(s, '/only.mp4?start=0.5')).status, 500);
  t.match(await s.logged('trak'), /\[error\] .*no mp4 trak atoms were found in "\S+\/html\/only\.mp4"/);
});

t.test('a part within one chunk', { skip: againstNginx && 'answers 500' }, async (t) => {
  await s.write('html/one.mp4', filmFile({ ...film, tracks: [pictures] }));
  const from = places.pictures[1]! + 14;
  const expected = left(from, from + 15 + 16, 120, [
    {
      ...pictures,
      duration: 200,
      filmDuration: 120,
      times: [[2, 100]],
      keyFrames: [1],
      offsets: [[2, 40]],
      chunks: [[1, 2, 1]],
      sizes: pictureSizes.slice(5, 7),
      places: [from],
    },
  ]);
  t.ok((await httpGet(s, '/one.mp4?start=0.5&end=0.7')).body.equals(filmFile(expected)));
});

t.test('samples that are all of one size', async (t) => {
  const sizes = { each: 3, count: 40 };
  const uniform = { ...sound, sizes };
  await s.write('html/uniform.mp4', filmFile({ ...film, tracks: [uniform] }));
  const expected = left(places.sound[1]!, samples.length, 900, [{ ...fromHalf.tracks[1]!, sizes, places: places.sound.slice(1) }]);
  t.ok((await httpGet(s, '/uniform.mp4?start=0.5')).body.equals(filmFile(expected)), 'the table goes on saying how many the file has');
});

t.test('a table of one size with something behind it', { skip: againstNginx && 'announces more than it sends' }, async (t) => {
  await s.write('html/behind.mp4', changed('stsz', 4, u32(3)));
  const { body, complete } = await httpGet(s, '/behind.mp4?start=0.5');
  t.ok(complete);
  const size = body.indexOf('stsz');
  t.equal(body.readUInt32BE(size - 4), 20);
  t.equal(body.toString('latin1', size + 20, size + 24), 'stco');
});

t.test('conditions and ranges', async (t) => {
  const path = '/a.mp4?start=0.5';
  const body = filmFile(fromHalf);
  const first = await httpGet(s, path);
  const mtime = Math.floor(statSync(`${s.dir}/html/a.mp4`).mtimeMs / 1000);
  t.equal(first.header('etag'), `"${mtime.toString(16)}-${body.length.toString(16)}"`);
  t.equal(first.header('last-modified'), new Date(mtime * 1000).toUTCString());
  t.equal((await httpGet(s, path, { 'If-None-Match': first.header('etag')! })).status, 304);
  t.equal((await httpGet(s, path, { 'If-Modified-Since': first.header('last-modified')! })).status, 304);
  const head = await http(s, requestText('HEAD', path, { Connection: 'close' }));
  t.equal(head.header('content-length'), String(body.length));
  const headSize = body.length - fromHalf.samples.length;
  for (const [start, end] of [
    [0, 9],
    [100, headSize - 1],
    [0, headSize],
    [headSize - 1, headSize + 1],
    [headSize, headSize + 1],
    [headSize + 20, body.length],
    [30, body.length],
  ] as const) {
    const response = await httpGet(s, path, { Range: `bytes=${start}-${end - 1}` });
    t.equal(response.status, 206);
    t.equal(response.header('content-range'), `bytes ${start}-${end - 1}/${body.length}`);
    t.ok(response.body.equals(body.subarray(start, end)), `${start}-${end}`);
  }
  t.equal((await httpGet(s, path, { Range: `bytes=${body.length}-` })).status, 416);
  const several = { Range: 'bytes=0-1,5-6' };
  const all = await httpGet(s, path, several);
  t.equal(all.status, 200, 'of a film that is cut, one range can be had');
  t.ok(all.body.equals(body));
  t.equal((await httpGet(s, '/a.mp4?start=0', several)).status, 200);
  t.equal((await httpGet(s, '/a.mp4', several)).status, 206);
});

t.test('a film that is not kept in memory', async (t) => {
  const sizes = growing(20, 10_000);
  const all = Buffer.from(Array.from({ length: sum(sizes) }, (_, i) => (i * 13 + (i >> 8)) % 251));
  const chunks = [0, 1, 2, 3, 4].map((i) => sum(sizes.slice(0, 4 * i)));
  const track: TrackParts = { ...pictures, sizes, places: chunks };
  const s = await startServer(t, {
    conf: serverConf('location / { mp4; directio 1k; } location /sendfile/ { mp4; sendfile on; aio threads; alias %%DIR%%/html/; }'),
    files: { 'html/large.mp4': filmFileIndexLast({ ...film, tracks: [track], samples: all }), 'html/a.mp4': whole },
  });
  const from = chunks[1]! + 10_004;
  const expected = filmFile({
    ...film,
    duration: 900,
    samples: all.subarray(from),
    tracks: [{ ...fromHalf.tracks[0]!, sizes: sizes.slice(5), places: [from, ...chunks.slice(2)].map((place) => place - from) }],
  });
  for (const folder of ['', '/sendfile']) {
    t.ok((await httpGet(s, `${folder}/large.mp4?start=0.5`)).body.equals(expected));
    t.ok((await httpGet(s, `${folder}/a.mp4?start=0.5`)).body.equals(filmFile(fromHalf)));
    const part = await httpGet(s, `${folder}/large.mp4?start=0.5`, { Range: 'bytes=100000-299999' });
    t.ok(part.body.equals(expected.subarray(100_000, 300_000)));
  }
});

t.test('methods, folders, files that are not there, other handlers', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { mp4; error_page 404 =200 /a.mp4?end=.5; }
      location /plain/ { mp4; alias %%DIR%%/html/; }
      location /try/ { mp4; try_files /no.mp4 /a.mp4 =404; }
      location /ssi/ { ssi on; ssi_types *; alias %%DIR%%/html/; }`),
    files: { ...files, 'html/page': '[<!--#include virtual="/a.mp4?start=0.5" -->]' },
  });
  t.equal((await http(s, requestText('POST', '/a.mp4?start=.5', { Connection: 'close' }, 'x'))).status, 405);
  t.equal((await httpGet(s, '/plain/no.mp4?start=.5')).status, 404);
  t.match(await s.logged('no.mp4'), /\[error\] .*open\(\) "\S+\/html\/no\.mp4" failed \(2: No such file or directory\)/);
  t.equal((await httpGet(s, '/f?start=1')).status, 301);
  t.match((await httpGet(s, '/f/')).text, 'the index');
  t.ok((await httpGet(s, '/no.mp4?start=0.5')).body.equals(filmFile(toHalf)), 'an error page has arguments of its own');
  t.ok((await httpGet(s, '/try/a.mp4?start=0.5')).body.equals(filmFile(fromHalf)));
  const included = (await httpGet(s, '/ssi/page')).body;
  t.ok(included.equals(Buffer.concat([Buffer.from('['), filmFile(fromHalf), Buffer.from(']')])), 'a part of a page');
  const answer = await exchange(s, 'GET /a.mp4?start=0.5 HTTP/1.0\r\n\r\n');
  t.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), filmFile(fromHalf).toString('latin1'));
});

/** The film with other bytes in the place of an atom's data, or of what follows a given place in it. */
function changed(name: string, from: number, ...bytes: readonly Buffer[]): Buffer {
  const file = Buffer.from(whole);
  Buffer.concat(bytes).copy(file, file.indexOf(name) + 4 + from);
  return file;
}

t.test('files that cannot be cut', async (t) => {
  const type = fileType();
  const moov = index(film, 0);
  const mdat = atom('mdat', samples);
  const only = (track: Partial<TrackParts>, args = 'start=0.5'): [Buffer, string] => [
    filmFile({ ...film, tracks: [{ ...pictures, ...track }] }),
    args,
  ];
  const of = (file: Buffer, args = 'start=0.5'): [Buffer, string] => [file, args];
  const broken: readonly (readonly [file: [Buffer, string], message: RegExp])[] = [
    [of(Buffer.from('no film at all')), /"F" mp4 atom too large:1852776550/],
    [of(Buffer.alloc(3)), /"F" mp4 file truncated/],
    [of(Buffer.alloc(0)), /no mp4 trak atoms were found in "F"/],
    [of(Buffer.concat([u32(7), Buffer.from('ftyp')])), /"F" mp4 atom is too small:7/],
    [of(Buffer.concat([u32(1), Buffer.from('ftyp'), u64(15)])), /"F" mp4 atom is too small:15/],
    [of(Buffer.concat([u32(1), Buffer.from('ftyp')])), /"F" mp4 file truncated/],
    [of(Buffer.concat([u32(1), Buffer.from('ftyp'), u64(2n ** 64n - 1n)])), /"F" mp4 atom too large:18446744073709551615/],
    [of(Buffer.concat([u32(9), Buffer.from('free')])), /"F" mp4 atom too large:9/],
    [of(atom('ftyp', Buffer.alloc(1025))), /"F" mp4 ftyp atom is too large:1025/],
    [of(Buffer.concat([type, type])), /duplicate mp4 ftyp atom in "F"/],
    [of(Buffer.concat([type, moov])), /no mp4 mdat atom was found in "F"/],
    [of(Buffer.concat([type, mdat])), /no mp4 trak atoms were found in "F"/],
    [of(Buffer.concat([type, mdat, mdat, moov])), /duplicate mp4 mdat atom in "F"/],
    [of(Buffer.concat([type, moov, moov, mdat])), /duplicate mp4 moov atom in "F"/],
    [of(atom('moov', atom('cmov'))), /"F" mp4 compressed moov atom \(cmov\) is not supported/],
    [of(atom('moov', atom('mvhd', Buffer.alloc(99)))), /"F" mp4 mvhd atom too small/],
    [of(atom('moov', atom('mvhd', Buffer.alloc(111, 1)))), /"F" mp4 mvhd atom too small/],
    [of(atom('moov', atom('mvhd', Buffer.alloc(100)), atom('mvhd', Buffer.alloc(100)))), /duplicate mp4 mvhd atom in "F"/],
    [of(atom('moov', atom('trak', atom('tkhd', Buffer.alloc(83))))), /"F" mp4 tkhd atom too small/],
    [of(atom('moov', atom('trak', atom('mdia'), atom('mdia')))), /duplicate mp4 mdia atom in "F"/],
    [of(atom('moov', atom('trak', atom('mdia', atom('minf'), atom('minf'))))), /duplicate mp4 minf atom in "F"/],
    [of(atom('moov', atom('trak', atom('mdia', atom('hdlr'), atom('hdlr'))))), /duplicate mp4 hdlr atom in "F"/],
    [of(atom('moov', atom('trak', atom('mdia', atom('minf', atom('vmhd'), atom('smhd')))))), /duplicate mp4 vmhd\/smhd atom in "F"/],
    [of(atom('moov', atom('trak', atom('mdia', atom('minf', atom('stbl'), atom('stbl')))))), /duplicate mp4 stbl atom in "F"/],
    [of(Buffer.concat([atom('moov', atom('trak')), mdat])), /no mp4 stts atoms were found in "F"/],
    [of(whole, 'start=2.01'), /"F" mp4 start time exceeds file duration/],
    [of(whole, 'start=2'), /no mp4 trak atoms were found in "F"/],
    [of(whole, 'start=9223372036854775.807'), /"F" mp4 start time exceeds file duration/],
    [of(changed('stts', 4, u32(2))), /"F" mp4 stts atom too small/],
    [of(changed('stts', 4, u32(0xffff_ffff))), /"F" mp4 stts atom too small/],
    [of(changed('stss', 4, u32(5))), /"F" mp4 stss atom too small/],
    [of(changed('ctts', 4, u32(3))), /"F" mp4 ctts atom too small/],
    [of(changed('stsc', 4, u32(2))), /"F" mp4 stsc atom too small/],
    [of(changed('stsz', 8, u32(21))), /"F" mp4 stsz atom too small/],
    [of(changed('stco', 4, u32(0x4000_0000))), /"F" mp4 stco atom too small/],
    [of(changed('stco', 4, u32(1))), /start time is out mp4 stsc chunks in "F"/],
    [of(changed('stsc', 4, u32(0))), /zero number of entries in stsc atom in "F"/],
    [of(changed('stsc', 8, u32(0))), /zero chunk in "F"/],
    [of(changed('stsc', 8, u32(7))), /unordered mp4 stsc chunks in "F"/],
    [of(changed('stsc', 12, u32(0)), 'end=.5'), /zero number of samples in "F"/],
    [of(changed('stts', 12, u32(1))), /start time is out mp4 stts samples in "F"/],
    [of(changed('stco', 12, u32(0xffff_fff0))), /too large chunk offset in "F"/],
    [of(changed('mdat', -4, Buffer.from('free'))), /no mp4 mdat atom was found in "F"/],
    [only({ sizes: pictureSizes.slice(0, 5) }), /start time is out mp4 stsz samples in "F"/],
    [only({ sizes: pictureSizes.slice(0, 6) }, 'start=0.5&end=1'), /end time is out mp4 stsz samples in "F"/],
    [only({ sizes: same(20, 0x7fff_ffff) }), /too large mp4 start samples size in "F"/],
    [only({ sizes: [...same(5, 1), ...same(15, 0x7fff_ffff)] }, 'start=0.5&end=1'), /too large mp4 end samples size in "F"/],
    [only({ places: places.pictures.slice(0, 2) }, 'start=0.8'), /start time is out mp4 stco chunks in "F"/],
    [
      only({
        chunks: [
          [2, 1, 1],
          [1, 4, 1],
        ],
      }),
      /unordered mp4 stsc chunks in "F"/,
    ],
    [only({ places: [] }, 'end=.5'), /end time is out mp4 stsc chunks in "F"/],
    [
      only(
        {
          chunks: [
            [1, 1, 1],
            [9, 4, 1],
          ],
          places: places.pictures.slice(0, 1),
        },
        'start=0.9',
      ),
      /unordered mp4 stsc chunks in "F"/,
    ],
    [only({ duration: 100_000, filmDuration: 100_000 }, 'start=2'), /start time is out mp4 stts samples in "F"/],
    [only({ duration: 100_000, wide: true, places: same(5, 2 ** 40) }), /too large chunk offset in "F"/],
  ];
  for (const [i, [[file, args], message]] of broken.entries()) {
    await s.write(`html/${i}.mp4`, file);
    t.equal((await httpGet(s, `/${i}.mp4?${args}`)).status, 500, `${i} ${message}`);
    const line = await s.logged(new RegExp(`/html/${i}\\.mp4"`));
    t.match(line.replace(/"\S+\/html\/\d+\.mp4"/, '"F"'), new RegExp(`\\[error\\] .*${message.source}`), `${i} ${message}`);
  }
});

t.test('zero key frames', async (t) => {
  await s.write('html/zero.mp4', filmFile({ ...film, tracks: [{ ...pictures, keyFrames: [1, 0, 3] }] }));
  t.equal((await httpGet(s, '/zero.mp4?start=.5')).status, 200);
  t.equal((await httpGet(s, '/key/zero.mp4?start=.5')).status, 500);
  t.match(await s.logged('zero sync'), /\[error\] .*zero sync sample in "\S+\/html\/zero\.mp4"/);
});

t.test('mp4_buffer_size and mp4_max_buffer_size', async (t) => {
  const size = index(film, 0).length - 8;
  const s = await startServer(t, {
    conf: serverConf(
      `location /little/ { mp4; alias %%DIR%%/html/; }
       location /enough/ { mp4; mp4_max_buffer_size ${size}; alias %%DIR%%/html/; }
       location /buffer/ { mp4; mp4_buffer_size 100k; alias %%DIR%%/html/; }
       location /tiny/ { mp4; mp4_buffer_size 20; mp4_max_buffer_size 10m; alias %%DIR%%/html/; }`,
      `mp4_buffer_size 100; mp4_max_buffer_size ${size - 1};`,
    ),
    files,
  });
  const cut = filmFile(fromHalf);
  t.equal((await httpGet(s, '/little/a.mp4?start=.5')).status, 500);
  t.match(
    await s.logged('moov atom'),
    new RegExp(`\\[error\\] .*"\\S+/a\\.mp4" mp4 moov atom is too large:${size}, you may want to increase mp4_max_buffer_size`),
  );
  t.equal((await httpGet(s, '/little/last.mp4?start=0')).status, 500);
  t.ok((await httpGet(s, '/little/a.mp4')).body.equals(whole));
  t.ok((await httpGet(s, '/enough/a.mp4?start=.5')).body.equals(cut));
  t.ok((await httpGet(s, '/buffer/a.mp4?start=.5')).body.equals(cut), 'the limit is for what the buffer does not hold');
  t.equal((await httpGet(s, '/tiny/a.mp4?start=.5')).status, 500);
  t.match(await s.logged('ftyp'), /\[error\] .*"\S+\/a\.mp4" mp4 ftyp atom is too large:16/);
});

t.test('messages of -t', async (t) => {
  t.equal(await configMessage(t, httpConf('mp4;')), '"mp4" directive is not allowed here in %%FILE%%:6');
  t.equal(await configMessage(t, serverConf('location / { mp4 on; }')), 'invalid number of arguments in "mp4" directive in %%FILE%%:11');
  t.equal(await configMessage(t, httpConf('mp4_buffer_size x;')), '"mp4_buffer_size" directive invalid value in %%FILE%%:6');
  t.equal(
    await configMessage(t, httpConf('mp4_max_buffer_size 1m; mp4_max_buffer_size 1m;')),
    '"mp4_max_buffer_size" directive is duplicate in %%FILE%%:6',
  );
  t.equal(
    await configMessage(t, httpConf('mp4_start_key_frame yes;')),
    'invalid value "yes" in "mp4_start_key_frame" directive, it must be "on" or "off" in %%FILE%%:6',
  );
  t.equal(
    await configMessage(t, serverConf('mp4_buffer_size 1k; mp4_max_buffer_size 0; mp4_start_key_frame off; location / { flv; mp4; mp4; }')),
    undefined,
  );
});
