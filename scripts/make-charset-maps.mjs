// Writes conf/koi-utf, conf/koi-win and conf/win-utf, the tables for the `charset_map` directive, from the decoders of the
// running Node. KOI8-U is KOI8-R with the Ukrainian letters in the place of eight line-drawing characters; six further
// codes carry what Russian pages write there in practice (and what nginx's tables say).
import { writeFileSync } from 'node:fs';

const folder = new URL('../conf/', import.meta.url);
const IN_PRACTICE = { 128: '€', 149: '•', 174: 'ў', 176: '°', 185: '№', 190: 'Ў' };

const koi = decode('koi8-u').map(([code, character]) => [code, IN_PRACTICE[code] ?? character]);
const win = decode('windows-1251').filter(([code]) => code !== 0x98); // the one code without a character
const winCodes = new Map(win.map(([code, character]) => [character, code]));

write('koi-utf', 'koi8-r utf-8', koi.map(toUtf8));
write('win-utf', 'windows-1251 utf-8', win.map(toUtf8));
write(
  'koi-win',
  'koi8-r windows-1251',
  koi.filter(([, character]) => winCodes.has(character)).map(([code, character]) => [code, hex(winCodes.get(character)), character]),
);

function decode(charset) {
  const decoder = new TextDecoder(charset);
  return Array.from({ length: 128 }, (_, i) => [i + 128, decoder.decode(Uint8Array.of(i + 128))]);
}

function toUtf8(/** @type {any[]} */ [code, character]) {
  return [code, Buffer.from(character).toString('hex'), character];
}

function write(name, charsets, rows) {
  const lines = rows.map(([from, to, character]) => `    ${hex(from)} ${to.toUpperCase()}; # ${visible(character)}\n`);
  writeFileSync(new URL(name, folder), `# Made by scripts/make-charset-maps.mjs.\n\ncharset_map ${charsets} {\n${lines.join('')}}\n`);
}

function hex(number) {
  return number.toString(16).toUpperCase();
}

function visible(character) {
  if (character === '\u00a0') {
    return 'no-break space';
  }
  return character === '\u00ad' ? 'soft hyphen' : character;
}
