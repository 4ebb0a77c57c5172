import { Lru } from '../../../shared/collection/lru.js';
import { WARN } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { parseObject } from '../../jose/json.js';
import { type Key, readKey } from '../../jose/key.js';
import { readKeySetFile } from '../../jwks/key-file.js';
import type { Status } from '../../task/codes.js';
import type { SignatureSettings } from './settings.js';

/** How many keys of one name are tried. */
const MOST_KEYS = 4;
/** Bytes that keys of zones may take in memory, roughly, and each of them. */
const MEMORY = 1024 * 1024;
const WEIGHT = 1024;

/** Keys of zones by what the zones say of them; a text says why one cannot be used. */
const known = new Lru<Key | { readonly problem: string }>(MEMORY);

/** The keys of a name; a status where they cannot be had, which has been logged. */
export function keysNamed(r: Request, { files, zones }: Readonly<SignatureSettings>, name: string): readonly Key[] | Status {
  const found: Key[] = [];
  for (const path of files) {
    const set = readKeySetFile(r, path);
    if (typeof set === 'number') {
      return set;
    }
    for (const key of set.keys) {
      if (key.id === name && found.length < MOST_KEYS) {
        found.push(key);
      }
    }
  }
  for (const ref of zones) {
    const text = r.http.env.zones.open(ref).find(name);
    const key = text === undefined ? undefined : keyOf(r, name, text);
    if (key !== undefined && found.length < MOST_KEYS) {
      found.push(key);
    }
  }
  return found;
}

function keyOf(r: Request, name: string, text: string): Key | undefined {
  let key = known.get(text);
  if (key === undefined) {
    const made = makeKey(text);
    key = typeof made === 'string' ? { problem: made } : made;
    known.set(text, key, WEIGHT + text.length);
  }
  if ('problem' in key) {
    // The name is one of the zone's keys, so that no stranger chose it.
    r.log(WARN, `the key "${name}" of a zone is not used: ${key.problem}`);
    return undefined;
  }
  return key;
}

/** A JSON Web Key, or a shared secret in base64. */
function makeKey(text: string): Key | string {
  if (text.startsWith('{')) {
    const members = parseObject(Buffer.from(text, 'latin1'));
    return members === undefined ? 'it is not well formed' : readKey(members);
  }
  const bytes = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/_-]+=*$/.test(text)
    ? readKey(
        new Map([
          ['kty', 'oct'],
          ['k', bytes.toString('base64url')],
        ]),
      )
    : 'it is neither a JSON Web Key nor a secret in base64';
}
