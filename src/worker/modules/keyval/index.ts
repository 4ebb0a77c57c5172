import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { parseZone } from '../../../shared/config/zone-parameter.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ZoneKind, ZoneRef } from '../../../shared/zone/kind.js';
import type { WorkerEnv } from '../../env.js';
import type { KeyvalType } from '../../lookup/keyval-index.js';
import { httpKeyvals, type KeyvalData, type KeyvalZone, streamKeyvals } from '../../lookup/keyval-zone.js';
import { variableName } from '../../lookup/variable-name.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';

type KeyvalRef = ZoneRef<KeyvalZone, KeyvalData>;

interface Settings {
  zones: readonly KeyvalRef[];
}

const TYPES: readonly string[] = ['string', 'ip', 'prefix'] satisfies KeyvalType[];

const kindIn = (ctx: SharedContext): ZoneKind<KeyvalZone, KeyvalData> => (ctx.block.context === In.STREAM ? streamKeyvals : httpKeyvals);

const scope = defineSharedScope<Settings>({
  fields: { zones: own<readonly KeyvalRef[]>([]) },
  directives: {
    // Syntax: keyval_zone zone=name:size [state=file] [timeout=time] [type=string | ip | prefix] [sync];
    keyval_zone: {
      in: In.HTTP | In.STREAM,
      args: { min: 1 },
      set(conf, _node, ctx) {
        conf.zones = append(conf.zones, defineZone(ctx));
      },
    },
    // Syntax: keyval key $variable zone=name;
    keyval: { in: In.HTTP | In.STREAM, args: 3, set: (_conf, _node, ctx) => defineVariable(ctx) },
  },
});

function defineZone(ctx: SharedContext): KeyvalRef {
  let zone: { readonly name: string; readonly bytes: number } | undefined;
  let state: string | undefined;
  let timeout = 0;
  let type = 'string';
  let sync = false;
  for (const [i, value] of ctx.node.args.entries()) {
    if (value.startsWith('zone=')) {
      zone = parseZone(ctx, i);
    } else if (value.startsWith('state=') && value.length > 6) {
      state = ctx.path(value.slice(6));
    } else if (value.startsWith('timeout=')) {
      const ms = parseTime(value.slice(8), 'ms');
      timeout = ms === undefined || ms === 0 ? ctx.fail(`invalid timeout value "${value}"`, { arg: i }) : ms;
    } else if (value.startsWith('type=')) {
      type = value.slice(5);
      if (!TYPES.includes(type)) {
        ctx.fail(`invalid type "${value}"`, { arg: i, hint: 'the types are `string`, `ip` and `prefix`' });
      }
    } else if (value === 'sync') {
      sync = true;
    } else {
      ctx.fail(`invalid parameter "${value}"`, { arg: i });
    }
  }
  if (zone === undefined || zone.name === '') {
    return ctx.reject('must have "zone" parameter');
  }
  if (sync) {
    if (timeout === 0) {
      ctx.reject('with "sync" must have "timeout" parameter', { hint: 'write for how long a pair is kept, as in `timeout=1h`' });
    }
  }
  if (ctx.zone(kindIn(ctx), zone.name).bytes !== 0) {
    ctx.fail(`duplicate zone "${zone.name}"`);
  }
  return ctx.zone(kindIn(ctx), zone.name, { bytes: zone.bytes, data: { type: type as KeyvalType, timeout, state, sync } });
}

function defineVariable(ctx: SharedContext): void {
  const { args } = ctx.node;
  const source = ctx.complex(args[0]!);
  const name = variableName(args[1]!, 1, ctx);
  if (!args[2]!.startsWith('zone=') || args[2] === 'zone=') {
    ctx.fail(`invalid parameter "${args[2]}"`, { arg: 2 });
  }
  const ref = ctx.zone(kindIn(ctx), args[2]!.slice(5));
  const { variables } = ctx;
  const defined = variables.define({
    name,
    changeable: true,
    get: (task) => task.protocol.env.zones.open(ref).find(source.eval(task)),
    set(task, value) {
      assign(task, ref, source.eval(task), value);
      if (variables.used(name.toLowerCase())) {
        task.vars[variables.slot(name)] = value;
      }
    },
  });
  if (!defined) {
    ctx.fail(`the duplicate "${name}" variable`, { arg: 1 });
  }
}

/** Gives the key that the variable looks up a value. */
function assign(task: ClientTask, ref: KeyvalRef, key: string, value: string): void {
  const zone = task.protocol.env.zones.open(ref);
  if (zone.accepts(key)) {
    zone.assign(key, value);
  } else {
    task.log(ERROR, `"${key}" cannot be a key of the keyval zone "${zone.name}"`);
  }
}

function install({ zones }: Readonly<Settings>, env: WorkerEnv): void {
  for (const ref of zones) {
    const zone = env.zones.open(ref);
    zone.start(env.log);
    if (ref.data.sync) {
      env.replicas?.add(zone);
    }
    env.onClose(() => zone.close());
  }
}

/** Variables whose values are kept by key while the server runs. NGINX Plus: ngx_http_keyval_module, ngx_stream_keyval_module. */
export const keyvalModule = defineModule({
  name: 'keyval',
  main: scope,
  installMain: (conf, _http, env) => install(conf, env),
  stream: { installMain: (conf, _stream, env) => install(conf, env) },
});
