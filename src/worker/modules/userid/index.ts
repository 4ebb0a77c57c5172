import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { bits, int, oneOf, text } from '../../../shared/config/slots.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { cookieTime, LATEST_COOKIE_TIME } from '../../text/cookie-time.js';
import { FLAGS, type UserIdSettings } from './settings.js';
import { assignId, describe, uidText, userId } from './uid.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<UserIdSettings>({
  fields: {
    mode: inherit<UserIdSettings['mode']>('off'),
    service: inherit<number | undefined>(undefined),
    name: inherit('uid'),
    domain: inherit(''),
    path: inherit('; path=/'),
    expires: inherit(0),
    flags: inherit<number>(FLAGS.off),
    p3p: inherit(''),
    mark: inherit(''),
  },
  directives: {
    userid: { in: ANYWHERE, args: 1, set: oneOf('mode', { off: 'off', log: 'log', v1: 'v1', on: 'on' } as const) },
    userid_service: { in: ANYWHERE, args: 1, set: int('service') },
    userid_name: { in: ANYWHERE, args: 1, set: text('name') },
    userid_domain: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.domain !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.domain = node.args[0] === 'none' ? '' : `; domain=${node.args[0]}`;
      },
    },
    userid_path: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.path !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.path = `; path=${node.args[0]}`;
      },
    },
    userid_expires: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.expires !== undefined) {
          ctx.reject('is duplicate');
        }
        const given = node.args[0]!;
        if (given === 'max') {
          conf.expires = Number.POSITIVE_INFINITY;
        } else if (given === 'off') {
          conf.expires = 0;
        } else {
          conf.expires = parseTime(given, 's') ?? ctx.reject('invalid value', { arg: 0 });
        }
      },
    },
    userid_flags: { in: ANYWHERE, args: [1, 2, 3], set: bits('flags', FLAGS) },
    userid_p3p: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.p3p !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.p3p = node.args[0] === 'none' ? '' : node.args[0]!;
      },
    },
    userid_mark: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.mark !== undefined) {
          ctx.reject('is duplicate');
        }
        const mark = node.args[0]!;
        if (mark !== 'off' && !/^[0-9A-Za-z=]$/.test(mark)) {
          ctx.reject('value must be "off" or a single letter, digit or "="', { arg: 0 });
        }
        conf.mark = mark === 'off' ? '' : mark;
      },
    },
  },
});

const slot = new LocationSlot<UserIdSettings>();

const resetting = (r: Request): string => r.http.variables.named(r, 'uid_reset') ?? '';

// nginx: ngx_http_userid_set_uid.
function headerFilter(r: Request, conf: Readonly<UserIdSettings>): Result {
  if (r !== r.main) {
    return OK;
  }
  const id = userId(r, conf);
  assignId(r, id, conf, resetting(r));
  if (id.set === undefined) {
    return OK;
  }
  let cookie = `${conf.name}=${uidText(id, conf)}`;
  if (conf.expires !== 0) {
    cookie += `; expires=${conf.expires === Number.POSITIVE_INFINITY ? LATEST_COOKIE_TIME : cookieTime(conf.expires)}`;
  }
  cookie += conf.domain + conf.path;
  for (const [flag, bit] of Object.entries(FLAGS)) {
    if (flag !== 'off' && (conf.flags & bit) !== 0) {
      cookie += `; ${flag}`;
    }
  }
  r.out.add('Set-Cookie', cookie);
  if (conf.p3p !== '') {
    r.out.add('P3P', conf.p3p);
  }
  return OK;
}

function uidGot(r: Request): string | undefined {
  const conf = r.main.location.conf(slot);
  if (conf.mode === 'off') {
    return undefined;
  }
  const { got } = userId(r.main, conf);
  return got === undefined ? undefined : describe(conf.name, got);
}

function uidSet(r: Request): string | undefined {
  const conf = r.main.location.conf(slot);
  if (conf.mode === 'off' || conf.mode === 'log') {
    return undefined;
  }
  const id = userId(r.main, conf);
  assignId(r.main, id, conf, resetting(r.main));
  return id.set === undefined ? undefined : describe(conf.name, id.set);
}

/** Cookies that tell clients apart. nginx: ngx_http_userid_filter_module. */
export const useridModule = defineModule({
  name: 'userid',
  location: scope,
  slot,
  variables: [
    { name: 'uid_got', get: uidGot },
    { name: 'uid_set', get: uidSet },
    { name: 'uid_reset', changeable: true, get: () => '' },
  ],
  headerFilter: (conf) => (conf.mode === 'on' || conf.mode === 'v1' ? (r) => headerFilter(r, conf) : undefined),
});
