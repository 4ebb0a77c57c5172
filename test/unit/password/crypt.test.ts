import t from 'tap';
import { crypt } from '../../../src/worker/password/crypt.js';
import { isKnownScheme, isSlow } from '../../../src/worker/password/quick-crypt.js';

// What crypt(3) of libxcrypt and `openssl passwd -apr1` make of these.
const vectors: readonly (readonly [password: string, stored: string])[] = [
  ['secret', 'abNANd1rDfiNc'],
  ['', '..X8NBuQ4l6uQ'],
  ['longer than eight', 'zZb64kacvY9KA'],
  ['p\xe9', './2575E4bwzJ.'],
  ['secret', '$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1'],
  ['', '$1$$qRPK7m23GJusamGpoGLby/'],
  ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '$1$abcdefgh$qbqmpT5c4yFc3.1Qef15o.'],
  ['secret', '$5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi.'],
  ['secret', '$5$rounds=1000$saltsaltsaltsalt$wYd0WDLeF2azwHAX40d1O2vcn89WFSxXFzmX1Ppv5U0'],
  ['yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy', '$5$s$M6GRpycqZlw86rFEjW.mM1PM93mRBKf8CYMkCu6G8j0'],
  ['secret', '$6$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.'],
  ['\xc3\xa9', '$6$rounds=1234$x$t9AeNkzXl1pFRQE0YHv1stKFyp30cXuP7/e8pjUsMQLFPb0xE.8HeOZABLJJwhudYtzvVlSZIbcBJACS5QqSX0'],
  [
    'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz',
    '$6$abcdefghijklmnop$9dB8JcJKhKulsTD8XRdDs5vGFj/0ryOvoUoEYgrHZMmMduJVO998MVRaBBJjlvBf59iuHMfn4dVcAeBra7Sn8/',
  ],
  ['secret', '$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW'],
  ['', '$2a$04$......................w74bL5gU7LSJClZClCa.Pkz14aTv/XO'],
  [
    'U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*U*',
    '$2b$05$CCCCCCCCCCCCCCCCCCCCC.qZR6XQpUetieqqgL2gPr6CUyeVmyfXO',
  ],
  // Bytes that are no UTF-8, and as many as count.
  ['p\xe9\xff', '$2a$04$abcdefghijklmnopqrstuu5liWEdkO/MrA11WLV1f1pIWUPO3JuVS'],
  ['p\xe9\xff', '$2b$04$abcdefghijklmnopqrstuu5liWEdkO/MrA11WLV1f1pIWUPO3JuVS'],
  ['p\xe9\xff', '$2y$04$abcdefghijklmnopqrstuu5liWEdkO/MrA11WLV1f1pIWUPO3JuVS'],
  ['\xff\xff\xa334', '$2a$05$/OK.fbVrR/bpIqNJ5ianF.WA/dAC9VKVZmVosdqLYGWOcCKo9CzwW'],
  ['x'.repeat(71), '$2b$04$abcdefghijklmnopqrstuu.gc7UY/21CSNJGJg21jJzx9QiOpJ9bO'],
  ['x'.repeat(72), '$2a$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i'],
  ['x'.repeat(300), '$2a$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i'],
  [`${'\xe9'.repeat(72)}more`, '$2b$04$abcdefghijklmnopqrstuu1QYhQRWwTVNVGERQutAJkXwP5rs8f0u'],
  ['secret', '$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0'],
  ['', '$apr1$saltsalt$a8ml/vK5HEjiZ5oypDWA7/'],
  ['a long passphrase with spaces', '$apr1$saltsalt$ZtSGixjnU5gNMRc5CQqER0'],
  ['secret', '{PLAIN}secret'],
  ['', '{PLAIN}'],
  ['secret', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='],
  ['secret', '{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0'],
];

t.test('the right password gives the stored hash, another one does not', async (t) => {
  for (const [password, stored] of vectors) {
    t.equal(await crypt(password, stored), stored, JSON.stringify([password, stored]));
    t.not(await crypt(`!${password}`, stored), stored, `wrong password for ${stored}`);
  }
});

t.test('a password ends at a NUL', async (t) => {
  for (const [password, stored] of vectors.filter(([password]) => password === 'secret')) {
    t.equal(await crypt(`${password}\0rest`, stored), stored, stored);
  }
});

t.test('settings that crypt(3) refuses match nothing', async (t) => {
  for (const stored of [
    '',
    'a',
    '!!',
    '*0',
    '$y$j9T$abc',
    '$2y$03$abcdefghijklmnopqrstuu',
    '$2y$04$short',
    '$2y$32$abcdefghijklmnopqrstuu',
    '$2x$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW',
    '$2$04$abcdefghijklmnopqrstuu',
    '{none}secret',
    '$6$rounds=10$salt$',
    '$9$x$',
  ]) {
    t.equal(await crypt('secret', stored), '*0', stored);
  }
  t.equal((await crypt('secret', '{SHA}')).length, 33);
  t.not(await crypt('secret', '{SSHA}!'), '{SSHA}!');
});

t.test('bits of a salt that bcrypt does not use are written as zero, as crypt(3) does', async (t) => {
  t.equal(await crypt('x', '$2a$04$abcdefghijklmnopqrstu9'), '$2a$04$abcdefghijklmnopqrstuuPp7HPfoAs8I2dCQCQ/fW7zEJv8I8C8e');
});

t.test('schemes', async (t) => {
  t.ok(isSlow('$apr1$x$'));
  t.ok(isSlow('abgOeLfPimXQo'));
  t.notOk(isSlow('{SHA}x'));
  for (const stored of ['$apr1$', '$1$', '$5$', '$6$', '$2a$', '$2b$', '$2y$', 'ab', '{SHA}']) {
    t.ok(isKnownScheme(stored), stored);
  }
  t.notOk(isKnownScheme('$y$j9T$'));
  t.notOk(isKnownScheme('$7$'));
  t.notOk(isKnownScheme('_J9..'));
  t.notOk(isKnownScheme('$2x$'));
});
