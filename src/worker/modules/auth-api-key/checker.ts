import { hash } from 'node:crypto';
import { INFO } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ZoneRef } from '../../../shared/zone/kind.js';
import { AUTH } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { asksProxy } from '../../http/headers/basic-credentials.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import { lineText } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import type { KeyvalData, KeyvalZone } from '../../lookup/keyval-zone.js';
import { lastingSlot } from '../../task/client-task.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';
import { readApiKeys } from './key-file.js';

/** What a location says of API keys. */
export interface KeySettings {
  /** Undefined: off. */
  asked: { readonly realm: ComplexValue<Request>; readonly key: ComplexValue<Request> | undefined } | undefined;
  /** Complete paths. */
  files: readonly string[];
  zones: readonly ZoneRef<KeyvalZone, KeyvalData>[];
}

/** Whom the key of a client's request belongs to, or the location that has refused it. */
const OUTCOME = lastingSlot<string | LocationRuntime>();

/** What came of a look at a key. */
type Found = { readonly name: string } | 'none' | 'unknown' | 'failed';

/**
 * Finds whom a request's key belongs to. A key is looked up by its hash, so that the time it takes says nothing of the keys that there
 * are; undefined in a file that cannot be read.
 */
function find(r: Request, { asked, files, zones }: Readonly<KeySettings>): Found {
  const key = asked!.key === undefined ? (r.header('x-api-key') ?? '') : asked!.key.eval(r);
  if (key === '') {
    return 'none';
  }
  const digest = hash('sha256', Buffer.from(key, 'latin1'), 'hex');
  for (const path of files) {
    const names = readApiKeys(r, path);
    if (names === undefined) {
      return 'failed';
    }
    const name = names.get(digest);
    if (name !== undefined) {
      return { name };
    }
  }
  for (const ref of zones) {
    const name = r.http.env.zones.open(ref).find(digest);
    if (name !== undefined) {
      return { name };
    }
  }
  return 'unknown';
}

/** The handler of the access phase. */
export function checkKey(r: Request, conf: Readonly<KeySettings>, meter: Meter): Result {
  const realm = conf.asked!.realm.eval(r);
  if (realm === 'off') {
    return DECLINED;
  }
  const found = find(r, conf);
  const where = { in: r.location, directive: 'auth_api_key' };
  if (typeof found === 'object') {
    OUTCOME.set(r, found.name);
    meter.count(AUTH.passed);
    r.trace?.add(r, 'access', `auth_api_key: the key of "${found.name}"`, where, { name: found.name });
    return OK;
  }
  OUTCOME.set(r, r.location);
  meter.count(found === 'failed' ? AUTH.failed : AUTH.refused);
  if (found === 'failed') {
    r.trace?.add(r, 'access', 'auth_api_key: its keys cannot be had', where, { status: 500 });
    return 500;
  }
  const text = found === 'none' ? 'no API key was provided' : 'the API key is not known';
  r.log(INFO, text);
  r.trace?.add(r, 'access', `auth_api_key: ${text}`, where);
  const challenge = realm === '' ? 'ApiKey' : `ApiKey realm="${lineText(realm)}"`;
  if (asksProxy(r)) {
    r.out.proxyAuthenticate = challenge;
    return 407;
  }
  r.out.adopt('wwwAuthenticate', 'WWW-Authenticate', challenge);
  return 401;
}

/** Whom the key of a client's request belongs to; looked up at once where it is asked for before the access phase. */
export function keyName(r: Request, confAt: (location: LocationRuntime) => Readonly<KeySettings>): string | undefined {
  const { main } = r;
  const outcome = OUTCOME.get(main);
  if (typeof outcome === 'string') {
    return outcome;
  }
  const conf = confAt(main.location);
  if (outcome === main.location || conf.asked === undefined || conf.asked.realm.eval(main) === 'off') {
    return undefined;
  }
  const found = find(main, conf);
  OUTCOME.set(main, typeof found === 'object' ? found.name : main.location);
  return typeof found === 'object' ? found.name : undefined;
}
