import { closeSync, readFileSync } from 'node:fs';
import { CRIT, ERROR, WARN } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { ENOENT, type FileInfo } from '../../files/file-info.js';
import { freshFile, whyMissing } from '../../http/files/open-file.js';
import { fileSlot } from '../../http/request/file-settings.js';
import type { Request } from '../../http/request/request.js';
import { runtimePart } from '../../task/protocol-runtime.js';

/** The names of those whom keys belong to, by the SHA-256 of a key in hexadecimal. */
export type KeyNames = ReadonlyMap<string, string>;

/** Keys of files that are kept in memory, by version of the file. */
const parsed = new WeakMap<FileInfo, KeyNames>();

/** Names in files that are too large for the cache, by path: those have no variables, so that there are as many as directives. */
const largeOf = runtimePart(() => new Map<string, { readonly identity: string; readonly names: KeyNames }>());

const HASH = /^[0-9a-f]{64}$/;
/** How many bad lines of a file the log is told of. */
const MOST_TOLD = 10;

/** Reads a file of keys as it is now; undefined when it cannot be read, which has been logged then. */
export function readApiKeys(r: Request, path: string): KeyNames | undefined {
  const info = freshFile(r, path, true, r.location.conf(fileSlot), undefined);
  const errno = info.errno === ENOENT ? whyMissing(path) : info.errno;
  if (errno !== 0) {
    r.log(errno === ENOENT ? ERROR : CRIT, `open() "${path}" failed (${errnoText(errno)})`);
    return undefined;
  }
  if (info.fd !== -1) {
    return readLarge(r, path, info);
  }
  let names = parsed.get(info);
  if (names === undefined) {
    names = parse(r, path, info.body?.toString('latin1') ?? '');
    parsed.set(info, names);
  }
  return names;
}

function readLarge(r: Request, path: string, { fd, identity }: FileInfo): KeyNames {
  try {
    const files = largeOf(r.http);
    let known = files.get(path);
    if (known?.identity !== identity) {
      known = { identity, names: parse(r, path, readFileSync(fd, 'latin1')) };
      files.set(path, known);
    }
    return known.names;
  } finally {
    closeSync(fd);
  }
}

/** Takes `name:hash` lines; `#` starts a comment. What a bad line has is not told: it may be a key. */
function parse(r: Request, path: string, text: string): KeyNames {
  const names = new Map<string, string>();
  let told = 0;
  for (const [i, whole] of text.split('\n').entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    const colon = line.lastIndexOf(':');
    const hash = line.slice(colon + 1).toLowerCase();
    const problem =
      colon < 1 || !HASH.test(hash) ? 'it is not NAME:HASH with a SHA-256 in hexadecimal' : names.has(hash) ? 'the key is there twice' : '';
    if (problem === '') {
      names.set(hash, line.slice(0, colon));
    } else if (told++ < MOST_TOLD) {
      r.log(WARN, `API keys "${path}": line ${i + 1} is not used: ${problem}`);
    }
  }
  return names;
}
