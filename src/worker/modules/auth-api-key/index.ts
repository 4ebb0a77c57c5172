import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { authKind } from '../../../shared/zone/meter-kinds.js';
import type { Request } from '../../http/request/request.js';
import { setKeyFile, setKeyZone } from '../../lookup/key-sources.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { checkKey, type KeySettings, keyName } from './checker.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.LIMIT_EXCEPT;

const scope = defineScope<KeySettings>({
  fields: {
    asked: inherit<KeySettings['asked']>(undefined),
    files: inherit<KeySettings['files']>([]),
    zones: inherit<KeySettings['zones']>([]),
  },
  directives: {
    // Syntax: auth_api_key string [key=$variable] | off;
    auth_api_key: { in: ANYWHERE, args: [1, 2], set: setRealm },
    auth_api_key_file: { in: ANYWHERE, args: 1, set: setKeyFile },
    auth_api_key_zone: { in: ANYWHERE, args: 1, set: setKeyZone },
  },
  link({ asked, files, zones }, ctx, place) {
    if (place.context === In.LOCATION && asked !== undefined && asked.realm.constant !== 'off' && files.length + zones.length === 0) {
      ctx.warn('"auth_api_key" without keys refuses everybody: "auth_api_key_file" or "auth_api_key_zone" gives them');
    }
  },
});

function setRealm(conf: Partial<KeySettings>, node: Context['node'], ctx: Context): void {
  if ('asked' in conf) {
    ctx.reject('is duplicate');
  }
  const [realm, parameter] = node.args;
  let key: ComplexValue<Request> | undefined;
  if (parameter !== undefined) {
    if (!parameter.startsWith('key=$')) {
      ctx.fail(`invalid parameter "${parameter}"`, { arg: 1, hint: 'the only one is `key=$variable`' });
    }
    key = ctx.complex(parameter.slice('key='.length));
  }
  conf.asked = { realm: ctx.complex(realm!), key };
}

const slot = new LocationSlot<KeySettings>();

/** Lets in who has one of the keys that the operator has given out. Ours. */
export const authApiKeyModule = defineModule({
  name: 'auth_api_key',
  location: scope,
  slot,
  variables: [{ name: 'api_key_name', cacheable: false, get: (r) => keyName(r, (location) => location.conf(slot)) }],
  phases: {
    access(conf, env) {
      if (conf.asked === undefined || conf.asked.realm.constant === 'off') {
        return undefined;
      }
      const meter = env.zones.counters.meters.meter(authKind, 'auth_api_key');
      return (r) => checkKey(r, conf, meter);
    },
  },
});
