// What a single executable runs first (scripts/build-executable): its packages, among them two native ones, want to be files. They are
// written once into a folder of this user's, and compared with what the executable has in it at each start, before any of them is loaded.
import cluster from 'node:cluster';
import { createRequire } from 'node:module';
import { getAsset, getRawAsset } from 'node:sea';
import { Contents, type Modes, type PackedFile } from './contents.js';
import { ownFolder, PLACE_VARIABLE, places } from './places.js';

interface Index {
  /** The folder's name, which no other contents have. */
  readonly name: string;
  readonly files: readonly PackedFile[];
}

const isNative = (path: string): boolean => path.endsWith('.node');
const uid = process.geteuid?.() ?? 0;
/** Workers of root's become another user, who loads some of the files later. */
const modes: Modes = uid === 0 ? { folder: 0o755, file: 0o644 } : { folder: 0o700, file: 0o600 };

start();

function start(): void {
  const { name, files } = JSON.parse(getAsset('index', 'utf8')) as Index;
  const contents = new Contents(files, getRawAsset('files') as ArrayBuffer);
  const reasons: string[] = [];
  for (const place of places(uid, process.env)) {
    const folder = tryPlace(place, name, contents, reasons);
    if (folder !== undefined) {
      // The processes that this one starts use the same.
      process.env[PLACE_VARIABLE] = place;
      // A process that makes room for its title has blanks behind its name.
      process.argv[1] = process.argv[1]?.trimEnd() ?? '';
      createRequire(`${folder}/`)(`${folder}/dist/${cluster.isWorker ? 'worker' : 'sluice'}.js`);
      return;
    }
  }
  process.stderr.write(
    `sluice: the files that are in this executable can be put nowhere; ${PLACE_VARIABLE} names a folder where programs may be run from\n` +
      reasons.map((reason) => `  ${reason}\n`).join(''),
  );
  process.exit(1);
}

/** The folder with all files, or undefined where that cannot be here, with a reason added. */
function tryPlace(place: string, name: string, contents: Contents, reasons: string[]): string | undefined {
  try {
    const folder = `${ownFolder(place, uid, modes.folder)}/${name}`;
    // A worker's master has just looked at all of them.
    if (!contents.isIn(folder, cluster.isWorker ? isNative : () => true)) {
      contents.writeTo(folder, modes);
    }
    // Where programs may not be run from, this fails.
    for (const { path } of contents.files.filter((file) => isNative(file.path))) {
      process.dlopen({ exports: {} }, `${folder}/${path}`);
    }
    return folder;
  } catch (error) {
    reasons.push(`${place}: ${(error as Error).message}`);
    return undefined;
  }
}
