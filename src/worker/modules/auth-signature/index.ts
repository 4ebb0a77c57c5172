import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import { authKind } from '../../../shared/zone/meter-kinds.js';
import type { Request } from '../../http/request/request.js';
import { setKeyFile, setKeyZone } from '../../lookup/key-sources.js';
import { httpKeyvals } from '../../lookup/keyval-zone.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { checkSignature, signatureOf } from './checker.js';
import { canBeAsked } from './components.js';
import { type SignatureSettings, type SignatureZoneRef, USUAL_COMPONENTS } from './settings.js';
import type { Signature } from './signature.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.LIMIT_EXCEPT;
const MINUTE = 60_000;

const setMaxAge = msec<'maxAge', Request>('maxAge');

const scope = defineScope<SignatureSettings>({
  fields: {
    realm: inherit<SignatureSettings['realm']>(undefined),
    files: inherit<SignatureSettings['files']>([]),
    zones: inherit<SignatureSettings['zones']>([]),
    components: inherit<SignatureSettings['components']>(USUAL_COMPONENTS),
    maxAge: inherit(5 * MINUTE),
    leeway: inherit(MINUTE / 2),
    nonces: inherit<SignatureSettings['nonces']>(undefined),
    tag: inherit<SignatureSettings['tag']>(undefined),
  },
  directives: {
    // Syntax: auth_signature string | off;
    auth_signature: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if ('realm' in conf) {
          ctx.reject('is duplicate');
        }
        conf.realm = ctx.complex(node.args[0]!);
      },
    },
    auth_signature_key_file: { in: ANYWHERE, args: 1, set: setKeyFile },
    auth_signature_key_zone: { in: ANYWHERE, args: 1, set: setKeyZone },
    auth_signature_components: { in: ANYWHERE, args: { min: 1 }, set: setComponents },
    auth_signature_max_age: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        setMaxAge(conf, node, ctx);
        if (conf.maxAge === 0) {
          ctx.fail('a signature must hold for some time', { arg: 0 });
        }
      },
    },
    auth_signature_leeway: { in: ANYWHERE, args: 1, set: msec('leeway') },
    // Syntax: auth_signature_nonce_zone name | off;
    auth_signature_nonce_zone: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if ('nonces' in conf) {
          ctx.reject('is duplicate');
        }
        conf.nonces = node.args[0] === 'off' ? undefined : ctx.zone(httpKeyvals, node.args[0]!);
      },
    },
    auth_signature_tag: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        const tag = node.args[0]!;
        conf.tag = /^[\x20-\x7e]{1,256}$/.test(tag) ? tag : ctx.fail(`invalid tag "${tag}"`, { arg: 0 });
      },
    },
  },
  link({ realm, files, zones, nonces }, ctx, place) {
    if (place.context !== In.LOCATION || realm === undefined || realm.constant === 'off') {
      return;
    }
    for (const zone of [...zones, ...(nonces === undefined ? [] : [nonces])]) {
      checkType(zone, ctx);
    }
    if (nonces !== undefined && zones.includes(nonces)) {
      ctx.fail(`the zone "${nonces.name}" cannot hold keys and nonces`);
    }
    if (files.length + zones.length === 0) {
      ctx.warn('"auth_signature" without keys refuses everybody: "auth_signature_key_file" or "auth_signature_key_zone" gives them');
    }
  },
});

function checkType({ name, bytes, data }: SignatureZoneRef, ctx: { fail(text: string): never }): void {
  if (bytes !== 0 && data.type !== 'string') {
    ctx.fail(`the zone "${name}" of signatures must be of type "string"`);
  }
}

function setComponents(conf: Partial<SignatureSettings>, { args }: Context['node'], ctx: Context): void {
  if ('components' in conf) {
    ctx.reject('is duplicate');
  }
  for (const [i, name] of args.entries()) {
    if (!canBeAsked(name) || args.indexOf(name) !== i) {
      ctx.fail(`invalid component "${name}"`, {
        arg: i,
        hint: 'it is `@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query`, or a header in small letters',
      });
    }
  }
  conf.components = args;
}

const slot = new LocationSlot<SignatureSettings>();
const of = (r: Request): Signature | undefined => signatureOf(r, (location) => location.conf(slot));

/** Lets in whose request is signed by a known key. RFC 9421 and RFC 9530; ours. */
export const authSignatureModule = defineModule({
  name: 'auth_signature',
  location: scope,
  slot,
  variables: [
    { name: 'signature_keyid', cacheable: false, get: (r) => of(r)?.keyid },
    { name: 'signature_label', cacheable: false, get: (r) => of(r)?.label },
    { name: 'signature_tag', cacheable: false, get: (r) => of(r)?.tag },
  ],
  phases: {
    access(conf, env) {
      if (conf.realm === undefined || conf.realm.constant === 'off') {
        return undefined;
      }
      const meter = env.zones.counters.meters.meter(authKind, 'auth_signature');
      return (r) => checkSignature(r, conf, meter);
    },
  },
});
