// Packs the extension for Visual Studio Code: `node scripts/package-vscode.mjs [FILE]` writes dist-vscode/sluice.vsix unless told.
// It needs the packages of the checkout, and no network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}editors/vscode/`;
const target = resolve(process.argv[2] ?? `${root}dist-vscode/sluice.vsix`);

const { outputFiles } = await build({
  entryPoints: [`${folder}src/extension.js`],
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // The Node of the oldest editor that is supported.
  target: 'node18',
  format: 'cjs',
  external: ['vscode'],
  minify: true,
  legalComments: 'inline',
  write: false,
});
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const manifest = { ...JSON.parse(readFileSync(`${folder}package.json`, 'utf8')), version };
const { name, publisher, displayName, description, categories, engines } = manifest;
const escaped = (text) => text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);

const files = [
  [
    '[Content_Types].xml',
    '<?xml version="1.0" encoding="utf-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
      ['json:application/json', 'js:application/javascript', 'md:text/markdown', 'vsixmanifest:text/xml', 'txt:text/plain']
        .map((pair) => pair.split(':'))
        .map(([extension, type]) => `<Default Extension=".${extension}" ContentType="${type}"/>`)
        .join('') +
      '</Types>',
  ],
  [
    'extension.vsixmanifest',
    `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Categories>${escaped(categories.join(','))}</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escaped(engines.vscode)}"/></Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`,
  ],
  ['extension/package.json', `${JSON.stringify(manifest, null, 2)}\n`],
  ['extension/extension.js', outputFiles[0].contents],
  ['extension/LICENSE.txt', readFileSync(`${root}LICENSE`)],
  ...['README.md', 'language-configuration.json', 'nginx.tmLanguage.json'].map((file) => [
    `extension/${file}`,
    readFileSync(folder + file),
  ]),
];
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, zip(files));
process.stdout.write(`${target}\n`);

/** A ZIP file, the same whenever it is made. */
function zip(entries) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const [path, content] of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes, { level: 9 });
    const file = Buffer.from(path);
    // Version 2.0, names in UTF-8, deflated, the first day that the format has.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(file.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, file, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, tail, file]));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}
