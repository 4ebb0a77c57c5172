import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseNumber } from '../../../shared/config/language/units.js';
import { parseZone } from '../../../shared/config/zone-parameter.js';
import { limitConnKind, type MeterKind, streamLimitConnKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import { limitDirectives, limitFields } from '../../http/limits/limit-settings.js';
import { defineModule, defineSharedScope, type SharedContext, type SharedVariable } from '../../module.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import { limitConnections, STATUS } from './handler.js';
import type { LimitConnSettings } from './location-limits.js';
import { type ConnData, connZone } from './zone.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.STREAM | In.STREAM_SERVER;
const MAX_CONNECTIONS = 65535;

const scope = defineSharedScope<LimitConnSettings>({
  fields: {
    limits: inherit<LimitConnSettings['limits']>([]),
    ...limitFields,
  },
  directives: {
    limit_conn_zone: { in: In.HTTP | In.STREAM, args: [2, 3], set: (_conf, node, ctx) => defineZone(node, ctx) },
    limit_conn: { in: ANYWHERE, args: 2, set: (conf, node, ctx) => addLimit(conf, node, ctx) },
    ...limitDirectives('limit_conn', In.STREAM | In.STREAM_SERVER),
  },
});

// nginx: ngx_http_limit_conn_zone.
function defineZone(node: DirectiveNode, ctx: SharedContext): void {
  // The third one is ours.
  const sync = node.args[2] === 'sync';
  if (node.args.length === 3 && !sync) {
    ctx.fail('invalid number of arguments in "limit_conn_zone" directive');
  }
  const key = ctx.complex(node.args[0]!);
  const value = node.args[1]!;
  if (!value.startsWith('zone=')) {
    ctx.fail(`invalid parameter "${value}"`, { arg: 1 });
  }
  const { name, bytes } = parseZone(ctx, 1);
  if (name === '') {
    ctx.fail('"limit_conn_zone" must have "zone" parameter');
  }
  const known = ctx.zone(connZone, name);
  const { data } = known as { data: ConnData | undefined };
  if (data === undefined || known.bytes !== bytes) {
    ctx.zone(connZone, name, { bytes, data: { key, sync } });
  } else {
    ctx.fail(`limit_conn_zone "${name}" is already bound to key "${data.key.text}"`);
  }
}

// nginx: ngx_http_limit_conn.
function addLimit(conf: Partial<LimitConnSettings>, node: DirectiveNode, ctx: SharedContext): void {
  const zone = ctx.zone(connZone, node.args[0]!);
  if (conf.limits?.some((limit) => limit.zone === zone)) {
    ctx.reject('is duplicate');
  }
  const text = node.args[1]!;
  const max = parseNumber(text) ?? 0;
  if (max === 0) {
    ctx.fail(`invalid number of connections "${text}"`, { arg: 1 });
  }
  if (max > MAX_CONNECTIONS) {
    ctx.fail('connection limit must be less 65536', { arg: 1 });
  }
  conf.limits = append(conf.limits, { zone, max });
}

const variables: readonly SharedVariable[] = [{ name: 'limit_conn_status', cacheable: false, get: (task) => STATUS.get(task) }];

type Handler = ReturnType<typeof limitConnections> | undefined;

const build = (conf: Readonly<LimitConnSettings>, env: WorkerEnv, runtime: ProtocolRuntime, kind: MeterKind): Handler =>
  conf.limits.length === 0 ? undefined : limitConnections(conf, env, runtime, kind);

/** Limits how many requests or sessions are under way for each key. nginx: ngx_http_limit_conn_module, ngx_stream_limit_conn_module. */
export const limitConnModule = defineModule({
  name: 'limit_conn',
  location: scope,
  variables,
  phases: { preaccess: (conf, env, { server }) => build(conf, env, server.http, limitConnKind) },
  stream: { variables, phases: { preaccess: (conf, env, server) => build(conf, env, server.stream, streamLimitConnKind) } },
});
