// Prints the file debian/copyright of the package: the licences of the server and of all packages in it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runtimePackages } from '../runtime-packages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COMMON = new Map([['Apache-2.0', 'On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.']]);
/** What of a choice of licences is taken, and Debian's names. */
const named = (license) => (/\bMIT\b/.test(license) ? 'Expat' : license);
const licenceFile = (folder) => {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined ? '' : readFileSync(`${folder}/${file}`, 'utf8');
};
const holder = (text) => /^[ \t]*copyright(?: notice)?[ \t]+((?:\(c\)|©|\d).*)/im.exec(text)?.[1].replace(/^(\(c\)|©)\s*/i, '').trim();
const indented = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => ` ${line.trim() === '' ? '.' : line.trimEnd()}`)
    .join('\n');
const stanza = (files, who, license) => `Files: ${files}\nCopyright: ${who}\nLicense: ${license}\n`;

const own = licenceFile(root);
const permission = own.slice(own.indexOf('Permission'));
const parts = [
  'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sluice\n',
  stanza('*', holder(own) ?? 'the authors of sluice', 'Expat'),
];
const texts = new Map([['Expat', permission]]);
for (const { folder, bundle, name, license, author } of runtimePackages()) {
  const text = licenceFile(`${root}/${folder}`);
  const who = holder(text) ?? (typeof author === 'object' ? author.name : author?.replace(/\s*[<(].*/, '')) ?? `the authors of ${name}`;
  parts.push(stanza(`usr/lib/sluice/${bundle ?? `${folder}/*`}`, who, named(license)));
  if (!texts.has(named(license))) texts.set(named(license), COMMON.get(license) ?? text);
}
for (const [license, text] of texts) parts.push(`License: ${license}\n${indented(text)}\n`);
process.stdout.write(parts.join('\n'));
