import { gunzipSync } from 'node:zlib';
import { Lru } from '../../../shared/collection/lru.js';
import { ERROR, WARN } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { MemorySink } from '../../http/body/memory-sink.js';
import type { Request } from '../../http/request/request.js';
import { RequestBody } from '../../http/request/request-body.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { readUnsafeUri } from '../../http/request/unsafe-uri.js';
import { type KeySet, readKeySet } from '../../jose/key-set.js';
import type { Result, Status } from '../../task/codes.js';
import type { KeySource } from './key-source.js';

/** Longer responses are no sets of keys. */
const MAX_BYTES = 1024 * 1024;
/** How many sets are kept, where the URI has variables. */
const MAX_KEPT = 64;

/** What the subrequest for one URI gave last. */
interface Kept {
  readonly body: string;
  readonly keys: KeySet;
  /** Milliseconds of the wall clock. */
  readonly until: number;
  /** A request is getting a newer one. */
  refreshing: boolean;
}

/**
 * Keys that a subrequest gives: one for each request, unless `auth_jwt_key_cache` says otherwise. A response with the same bytes as the
 * last
 * one is the same set, so that what was verified by it stays verified.
 */
export class RequestSource implements KeySource {
  readonly #uri: ComplexValue<Request>;
  /** Milliseconds. */
  readonly #cacheTime: number;
  readonly #kept = new Lru<Kept>(MAX_KEPT);

  constructor(uri: ComplexValue<Request>, cacheTime: number) {
    this.#uri = uri;
    this.#cacheTime = cacheTime;
  }

  now(r: Request): KeySet | undefined {
    const kept = this.#cacheTime === 0 ? undefined : this.#kept.get(this.#uri.eval(r));
    // While one request gets a newer set, the others go on with the old one.
    return kept !== undefined && (kept.refreshing || Date.now() < kept.until) ? kept.keys : undefined;
  }

  recent(r: Request): KeySet | undefined {
    return this.#kept.peek(this.#uri.eval(r))?.keys;
  }

  fetch(r: Request, done: (result: KeySet | Status) => void): Status | undefined {
    const uri = this.#uri.eval(r);
    const target = readUnsafeUri(r, uri);
    if (target === undefined) {
      return 500;
    }
    const kept = this.#kept.peek(uri);
    if (kept !== undefined && this.#cacheTime > 0) {
      kept.refreshing = true;
      // A request that breaks off does not hear of its subrequest.
      r.onFinish(() => {
        kept.refreshing = false;
      });
    }
    const sink = new MemorySink(MAX_BYTES);
    const sr = startSubrequest(r, {
      ...target,
      sink,
      trace: 'auth_jwt_key_request',
      done: (subrequest, code) => {
        if (kept !== undefined) {
          kept.refreshing = false;
        }
        done(this.#take(r, uri, subrequest, code, sink.text));
      },
    });
    if (sr === undefined) {
      return 500;
    }
    // What the client sends is not for whoever has the keys, who would wait for it in vain.
    const body = new RequestBody();
    body.complete = true;
    sr.body = body;
    sr.contentLength = -1;
    sr.chunkedIn = false;
    return undefined;
  }

  #take(r: Request, uri: string, sr: Request, code: Result, text: string | undefined): KeySet | Status {
    const status = code >= 300 || code < 0 ? code : sr.out.status;
    if (status !== 200) {
      r.log(ERROR, `JSON Web Key Set request "${uri}" unexpected status: ${status}`);
      return 500;
    }
    const body = decoded(text ?? '', sr.out.contentEncoding);
    const before = this.#kept.peek(uri);
    const keys = before !== undefined && before.body === body ? before.keys : body === undefined ? undefined : read(r, uri, body);
    if (body === undefined || keys === undefined || typeof keys === 'string') {
      r.log(ERROR, `JSON Web Key Set of request "${uri}" cannot be used: ${keys ?? 'its encoding is not known'}`);
      return 500;
    }
    this.#kept.set(uri, { body, keys, until: Date.now() + this.#cacheTime, refreshing: false });
    return keys;
  }
}

function read(r: Request, uri: string, body: string): KeySet | string {
  const keys = readKeySet(Buffer.from(body, 'latin1'));
  if (typeof keys !== 'string') {
    for (const complaint of keys.complaints) {
      r.log(WARN, `JSON Web Key Set of request "${uri}": ${complaint}`);
    }
  }
  return keys;
}

/**
 * The body without its encoding: a backend answers a subrequest as it would the client, who may take gzip. Undefined for other
 * encodings.
 */
function decoded(text: string, encoding: string | undefined): string | undefined {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') {
    return text;
  }
  if (!/^(?:x-)?gzip$/i.test(encoding)) {
    return undefined;
  }
  try {
    return gunzipSync(Buffer.from(text, 'latin1'), { maxOutputLength: MAX_BYTES }).toString('latin1');
  } catch {
    return undefined;
  }
}
