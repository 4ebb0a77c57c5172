import { openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';

// Parts of the server's own that few modules of scripts need. The build puts them beside the program.

const PARTS = ['js-transform', 'js-xml'] as const;

type Part = (typeof PARTS)[number];

/** The texts of the parts, for a thread that may not be able to read their files. */
export type PartTexts = { readonly [part in Part]: string };

const loaded = new Map<Part, unknown>();
/** The file descriptors or the texts of parts, where their files may be out of reach when the parts are needed. */
const held = new Map<Part, number | string>();

const fileOf = (part: Part): string => fileURLToPath(new URL(`./${part}.js`, import.meta.url));

/** Opens what may be needed later. To be called before a process drops its rights: its program's folder may be closed to its user. */
export function holdParts(): void {
  for (const part of PARTS) {
    if (!held.has(part)) {
      held.set(part, openSync(fileOf(part), 'r'));
    }
  }
}

/** Reads the texts, for {@link giveParts}. */
export const partTexts = (): PartTexts => Object.fromEntries(PARTS.map((part) => [part, readFileSync(fileOf(part), 'utf8')])) as PartTexts;

/** Gives a thread the texts, so that it reads no files. */
export function giveParts(texts: PartTexts): void {
  for (const part of PARTS) {
    held.set(part, texts[part]);
  }
}

/** What a part exports. It is loaded when it is first asked for. */
export function latePart<T>(part: Part): T {
  let exports = loaded.get(part);
  if (exports === undefined) {
    exports = load(part);
    loaded.set(part, exports);
  }
  return exports as T;
}

/** Loads all of them now. */
export function loadParts(): void {
  for (const part of PARTS) {
    latePart(part);
  }
}

function load(part: Part): unknown {
  const filename = fileOf(part);
  const module = { exports: {} };
  const source = held.get(part);
  const text = typeof source === 'string' ? source : readFileSync(source ?? filename, 'utf8');
  compileFunction(text, ['exports', 'require', 'module', '__filename'], { filename })(
    module.exports,
    createRequire(filename),
    module,
    filename,
  );
  return module.exports;
}
