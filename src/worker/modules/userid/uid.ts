import { ERROR, NOTICE } from '../../../shared/log/level.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { findCookie } from '../../http/headers/cookie.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { addressBytes } from '../../http/syntax/address-bytes.js';
import type { UserIdSettings } from './settings.js';

/** Bytes of an identifier: four words. */
const SIZE = 16;
/** Characters of an identifier in base64 without its `==`. */
const TEXT = 22;

/** What a request says and gets. nginx: ngx_http_userid_ctx_t. */
class UserId {
  /** The identifier of the client's cookie, undefined when there is none. */
  got: Buffer | undefined = undefined;
  /** The one that the response sets. */
  set: Buffer | undefined = undefined;
  cookie = '';
  reset = false;
}

const ids = contextSlot<UserId>();

// Identifiers differ between workers by the process number and within one by the sequence, so both belong to the process.
const started = ((Math.floor((performance.timeOrigin * 1000) % 1_000_000) / 20) << 16) | process.pid;
let nextV1 = 1;
let nextV2 = 0x03030302;

/** Reads the client's cookie, once a request. nginx: ngx_http_userid_get_uid. */
export function userId(r: Request, conf: Readonly<UserIdSettings>): UserId {
  const known = ids.get(r);
  if (known !== undefined) {
    return known;
  }
  const id = new UserId();
  ids.set(r, id);
  const found = findCookie(r, conf.name.toLowerCase());
  if (found === undefined) {
    return id;
  }
  const { line, value: cookie } = found;
  id.cookie = cookie;
  if (cookie.length < TEXT) {
    r.log(ERROR, `client sent too short userid cookie "${line}"`);
    return id;
  }
  // What follows may be a mark, or garbage.
  const text = /^[^=]*/.exec(cookie.slice(0, TEXT))![0];
  if (!/^[A-Za-z0-9+/]*$/.test(text) || text.length % 4 === 1) {
    r.log(ERROR, `client sent invalid userid cookie "${line}"`);
    return id;
  }
  const got = Buffer.alloc(SIZE);
  Buffer.from(text, 'base64').copy(got);
  if (got.readUInt32LE(12) !== 0) {
    id.got = got;
  }
  return id;
}

/** Decides which identifier the response sets, if any. `resetting` is `$uid_reset`. nginx: ngx_http_userid_create_uid. */
export function assignId(r: Request, id: UserId, conf: Readonly<UserIdSettings>, resetting: string): void {
  if (id.set !== undefined) {
    return;
  }
  if (id.got !== undefined) {
    if (resetting === '' || resetting === '0') {
      const marked = conf.mark === '' || (id.cookie.length > TEXT + 1 && id.cookie.startsWith(`${conf.mark}=`, TEXT));
      if (!marked) {
        id.set = id.got;
      }
      return;
    }
    id.reset = true;
    if (resetting === 'log') {
      r.log(NOTICE, `userid cookie "${describe(conf.name, id.got)}" was reset`);
    }
  }
  id.set = conf.mode === 'v1' ? newV1(conf) : newV2(r, conf);
}

function newV1(conf: Readonly<UserIdSettings>): Buffer {
  const uid = Buffer.alloc(SIZE);
  uid.writeUInt32LE((conf.service ?? 0) >>> 0, 0);
  uid.writeUInt32LE(nowSeconds() >>> 0, 4);
  uid.writeUInt32LE(started >>> 0, 8);
  uid.writeUInt32LE(nextV1, 12);
  nextV1 = (nextV1 + 0x100) >>> 0;
  return uid;
}

function newV2(r: Request, conf: Readonly<UserIdSettings>): Buffer {
  const uid = Buffer.alloc(SIZE);
  const address = r.connection.localAddress;
  if (conf.service !== undefined) {
    uid.writeUInt32BE(conf.service >>> 0, 0);
  } else if (!address.startsWith('unix:')) {
    uid.write(addressBytes(address).slice(-4), 0, 4, 'latin1');
  }
  uid.writeUInt32BE(nowSeconds() >>> 0, 4);
  uid.writeUInt32BE(started >>> 0, 8);
  uid.writeUInt32BE(nextV2, 12);
  nextV2 = (nextV2 + 0x100) >>> 0;
  if (nextV2 < 0x03030302) {
    nextV2 = 0x03030302;
  }
  return uid;
}

/** An identifier as log lines and variables have it. nginx: ngx_http_userid_variable. */
export function describe(name: string, uid: Buffer): string {
  let text = `${name}=`;
  for (let i = 0; i < SIZE; i += 4) {
    text += uid.readUInt32LE(i).toString(16).toUpperCase().padStart(8, '0');
  }
  return text;
}

/** The cookie's value for the identifier that is set. */
export function uidText(id: UserId, conf: Readonly<UserIdSettings>): string {
  if (id.got !== undefined && !id.reset) {
    return `${id.cookie.slice(0, TEXT)}${conf.mark}=`;
  }
  const text = id.set!.toString('base64');
  return conf.mark === '' ? text : `${text.slice(0, TEXT)}${conf.mark}=`;
}
