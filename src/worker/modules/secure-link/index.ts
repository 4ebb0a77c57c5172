import { timingSafeEqual } from 'node:crypto';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { mergeErrorPos } from '../../../shared/config/errors.js';
import { parseNumber } from '../../../shared/config/language/units.js';
import { complex } from '../../../shared/config/slots.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { md5Bytes } from '../../digest/md5.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { LocationSlot } from '../../task/settings-slot.js';

interface Settings {
  /** What the link shows: a hash, and perhaps `,` and the time it expires. */
  link: ComplexValue<Request> | undefined;
  /** What the hash must be of. */
  md5: ComplexValue<Request> | undefined;
  /** The older form: a word that is hashed together with the rest of the path. */
  secret: string | undefined;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<Settings>({
  fields: {
    link: own<ComplexValue<Request> | undefined>(undefined),
    md5: own<ComplexValue<Request> | undefined>(undefined),
    secret: own<string | undefined>(undefined),
  },
  // nginx: ngx_http_secure_link_merge_conf.
  finish(conf, parent) {
    if (conf.secret !== undefined) {
      return;
    }
    conf.link ??= parent?.link;
    conf.md5 ??= parent?.md5;
    if (conf.link === undefined && conf.md5 === undefined) {
      conf.secret = parent?.secret;
    }
  },
  link(conf, ctx, { block, context }) {
    if (context !== In.HTTP && conf.secret !== undefined && (conf.link !== undefined || conf.md5 !== undefined)) {
      ctx.fail('"secure_link_secret" cannot be mixed with "secure_link" and "secure_link_md5"', mergeErrorPos(block));
    }
  },
  directives: {
    // Syntax: secure_link expression;
    secure_link: { in: ANYWHERE, args: 1, set: complex('link') },
    // Syntax: secure_link_md5 expression;
    secure_link_md5: { in: ANYWHERE, args: 1, set: complex('md5') },
    // Syntax: secure_link_secret word;
    secure_link_secret: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.secret !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.secret = node.args[0]!;
      },
    },
  },
});

const slot = new LocationSlot<Settings>();

/** `$secure_link_expires`, known once `$secure_link` was looked at. */
const expiry = contextSlot<string>();

// nginx: ngx_http_secure_link_variable.
function secureLink(r: Request): string | undefined {
  const conf = r.location.conf(slot);
  if (conf.secret !== undefined) {
    return linkBySecret(r.unparsedUri, conf.secret);
  }
  if (conf.link === undefined || conf.md5 === undefined) {
    return undefined;
  }
  const value = conf.link.eval(r);
  const comma = value.indexOf(',');
  let expires = 0;
  if (comma >= 0) {
    const text = value.slice(comma + 1);
    expires = parseNumber(text) ?? 0;
    if (expires === 0) {
      return undefined;
    }
    expiry.set(r, text);
  }
  const hash = decodeHash(comma < 0 ? value : value.slice(0, comma));
  if (hash === undefined || !timingSafeEqual(hash, md5Bytes(conf.md5.eval(r)))) {
    return undefined;
  }
  return expires !== 0 && expires < nowSeconds() ? '0' : '1';
}

/** Reads a hash of 16 bytes in base64url; undefined when it is none. What follows a `=` does not count. */
function decodeHash(text: string): Buffer | undefined {
  const digits = /^([A-Za-z0-9_-]{22})(?:$|=)/.exec(text)?.[1];
  return digits === undefined || text.length > 24 ? undefined : Buffer.from(digits, 'base64url');
}

/** Takes `/prefix/HASH/link`; returns the link when the hash is right. nginx: ngx_http_secure_link_old_variable. */
function linkBySecret(uri: string, secret: string): string | undefined {
  const match = /^.[^/]*\/([^/]*)\/([\s\S]+)$/.exec(uri);
  if (match === null || !/^[0-9A-Fa-f]{32}$/.test(match[1]!)) {
    return undefined;
  }
  const link = match[2]!;
  return timingSafeEqual(Buffer.from(match[1]!, 'hex'), md5Bytes(link + secret)) ? link : undefined;
}

/** Checks links that carry a hash of themselves, and perhaps the time until which they count. nginx: ngx_http_secure_link_module. */
export const secureLinkModule = defineModule({
  name: 'secure_link',
  location: scope,
  slot,
  variables: [
    { name: 'secure_link', get: secureLink },
    { name: 'secure_link_expires', get: (r) => expiry.get(r) },
  ],
});
