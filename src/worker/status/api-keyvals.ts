import { byteText, nativeText } from '../../shared/text/native-text.js';
import type { KeyvalChanges } from '../lookup/keyval-table.js';
import { httpKeyvals, type KeyvalZone, streamKeyvals } from '../lookup/keyval-zone.js';
import { type Answer, ApiRefusal, type Question } from './api-question.js';
import type { StatusSource } from './source.js';

const PATH = /^(http|stream)\/keyvals(?:\/([^/]*))?$/;

/** What a request says of a pair: what is absent stays as it is; a value of null removes the pair. */
interface PairChange {
  readonly key: string;
  readonly value: string | null | undefined;
  /** Milliseconds from now. */
  readonly expire: number | undefined;
}

/** Answers `http/keyvals/`, `stream/keyvals/` and what is below them. undefined: the path is another one. */
export function answerKeyvals({ http, env }: StatusSource, question: Question, path: string): Answer | undefined {
  const match = PATH.exec(path);
  if (match === null || (match[1] === 'stream' && http.stream === undefined)) {
    return undefined;
  }
  const zones = env.zones.ofKind(match[1] === 'http' ? httpKeyvals : streamKeyvals);
  const { method, fields } = question;
  if (match[2] === undefined || match[2] === '') {
    if (method !== 'GET') {
      throw new ApiRefusal(405, 'MethodDisabled', 'method disabled');
    }
    const names = [...zones.keys()].map(nativeText);
    return {
      status: 200,
      body: fields === '' ? names : Object.fromEntries([...zones.values()].map((zone) => [nativeText(zone.name), pairsOf(zone)])),
    };
  }
  const zone = zones.get(byteText(match[2]));
  if (zone === undefined) {
    throw new ApiRefusal(404, 'KeyvalNotFound', 'keyval not found');
  }
  return method === 'GET' ? { status: 200, body: read(zone, question) } : change(zone, question);
}

const pairsOf = (zone: KeyvalZone): Record<string, string> =>
  Object.fromEntries(zone.pairs().map(([key, { value }]) => [nativeText(key), nativeText(value)]));

function read(zone: KeyvalZone, { key }: Question): object {
  const pairs = pairsOf(zone);
  if (key === undefined) {
    return pairs;
  }
  if (!Object.hasOwn(pairs, key)) {
    throw new ApiRefusal(404, 'KeyvalKeyNotFound', 'keyval key not found');
  }
  return { [key]: pairs[key] };
}

function change(zone: KeyvalZone, { method, write, body }: Question): Answer {
  if (!write || !['POST', 'PATCH', 'DELETE'].includes(method)) {
    throw new ApiRefusal(405, 'MethodDisabled', 'method disabled');
  }
  const pairs = method === 'DELETE' ? [] : pairsIn(zone, body);
  const refused = zone.change((changes) => {
    switch (method) {
      case 'POST':
        return add(zone, changes, pairs);
      case 'PATCH':
        return patch(zone, changes, pairs);
      default:
        changes.clear();
        return null;
    }
  });
  if (refused === undefined) {
    throw new ApiRefusal(503, 'KeyvalBusy', 'the zone is busy');
  }
  if (refused !== null) {
    throw refused;
  }
  return { status: method === 'POST' ? 201 : 204, body: undefined, did: told(zone, method, pairs) };
}

/** How many keys of a change are told. */
const MOST_TOLD = 3;

/** What becomes of a zone; values are nobody's business in a log. */
function told({ name }: KeyvalZone, method: string, pairs: readonly PairChange[]): string {
  if (method === 'DELETE') {
    return `removes all pairs of keyval zone "${name}"`;
  }
  const does = method === 'POST' ? 'adds' : pairs[0]!.value === null ? 'removes' : 'changes';
  const keys = pairs.slice(0, MOST_TOLD).map(({ key }) => `"${key}"`);
  const more = pairs.length > MOST_TOLD ? ` and ${pairs.length - MOST_TOLD} more` : '';
  return `${does} ${keys.join(', ')}${more} in keyval zone "${name}"`;
}

/** Adds pairs, all of them or none. */
function add(zone: KeyvalZone, changes: KeyvalChanges, pairs: readonly PairChange[]): ApiRefusal | null {
  if (pairs.length > 1 && changes.entries > 0) {
    return formatError('only one key can be added');
  }
  for (const { key, value, expire } of pairs) {
    if (typeof value !== 'string') {
      return formatError('invalid key format');
    }
    if (changes.get(key) !== undefined) {
      return new ApiRefusal(409, 'KeyvalKeyExists', 'key already exists');
    }
    if (!changes.put(key, { value, expires: zone.endOf(expire) })) {
      if (pairs.length > 1) {
        changes.clear();
      }
      return full();
    }
  }
  return null;
}

function patch(zone: KeyvalZone, changes: KeyvalChanges, pairs: readonly PairChange[]): ApiRefusal | null {
  if (pairs.length > 1) {
    return formatError('only one key can be updated');
  }
  const { key, value, expire } = pairs[0]!;
  const before = changes.get(key);
  if (before === undefined) {
    return new ApiRefusal(404, 'KeyvalKeyNotFound', 'keyval key not found');
  }
  if (value === null) {
    changes.delete(key);
    return null;
  }
  return changes.put(key, { value: value ?? before.value, expires: zone.endOf(expire) }) ? null : full();
}

const formatError = (text: string): ApiRefusal => new ApiRefusal(400, 'KeyvalFormatError', text);

const full = (): ApiRefusal => new ApiRefusal(413, 'KeyvalOutOfMemory', 'the zone has no room for the pair');

function pairsIn(zone: KeyvalZone, body: string | undefined): PairChange[] {
  let object: unknown;
  try {
    object = JSON.parse(body ?? '');
  } catch {
    throw new ApiRefusal(415, 'JsonError', 'JSON error');
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw formatError('invalid JSON');
  }
  const pairs = Object.entries(object).map(([key, said]) => pairOf(zone, key, said));
  if (pairs.length === 0) {
    throw formatError('key required');
  }
  return pairs;
}

function pairOf(zone: KeyvalZone, name: string, said: unknown): PairChange {
  const key = byteText(name);
  if (key === '') {
    throw formatError('key required');
  }
  if (!zone.accepts(key)) {
    throw formatError('invalid key format');
  }
  const {
    value: given,
    expire,
    ...rest
  } = (typeof said === 'object' && said !== null ? said : { value: said }) as Readonly<Record<string, unknown>>;
  // A number becomes text, as NGINX Plus has it.
  const value = typeof given === 'number' ? String(given) : given;
  if (Object.keys(rest).length > 0 || (value !== undefined && value !== null && typeof value !== 'string')) {
    throw formatError('invalid key format');
  }
  if (expire !== undefined && zone.data.timeout === 0) {
    throw formatError('keyval timeout is not enabled');
  }
  if (expire !== undefined && !(typeof expire === 'number' && Number.isSafeInteger(expire) && expire > 0)) {
    throw formatError('invalid "expire"');
  }
  return { key, value: typeof value === 'string' ? byteText(value) : value, expire: expire as number | undefined };
}
