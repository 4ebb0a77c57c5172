import { In } from '../../../shared/config/context.js';
import { parseNumber, parseTime } from '../../../shared/config/language/units.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import type { KeepaliveSettings } from '../../upstream/connection/idle-pool.js';
import { groupScope } from '../../upstream/group/group-config.js';

type Settings = { -readonly [K in keyof KeepaliveSettings]?: KeepaliveSettings[K] };

/** Stores a value once in the group's settings. */
function store<K extends keyof Settings>(ctx: Context, key: K, value: Settings[K]): void {
  const group = ctx.conf(groupScope);
  const keepalive: Settings = (group.keepalive ??= {});
  if (keepalive[key] !== undefined) {
    ctx.reject('is duplicate');
  }
  keepalive[key] = value;
}

const milliseconds = (text: string, ctx: Context): number => parseTime(text, 'ms') ?? ctx.reject('invalid value', { arg: 0 });

/** Keeps connections to a group's servers for further requests. nginx: ngx_http_upstream_keepalive_module. */
export const keepaliveModule = defineModule({
  name: 'keepalive',
  main: defineScope<object>({
    fields: {},
    directives: {
      keepalive: {
        in: In.UPSTREAM,
        args: [1, 2],
        set(_conf, node, ctx) {
          const [count, local] = node.args as [string, string | undefined];
          if (parseNumber(count) === undefined) {
            ctx.fail(`invalid value "${count}" in "keepalive" directive`, { arg: 0 });
          }
          if (local !== undefined && local !== 'local') {
            ctx.fail(`invalid parameter "${local}"`, { arg: 1 });
          }
          store(ctx, 'connections', Number(count));
          if (local !== undefined) {
            store(ctx, 'local', true);
          }
        },
      },
      keepalive_time: { in: In.UPSTREAM, args: 1, set: (_conf, node, ctx) => store(ctx, 'time', milliseconds(node.args[0]!, ctx)) },
      keepalive_timeout: { in: In.UPSTREAM, args: 1, set: (_conf, node, ctx) => store(ctx, 'timeout', milliseconds(node.args[0]!, ctx)) },
      keepalive_requests: {
        in: In.UPSTREAM,
        args: 1,
        set(_conf, node, ctx) {
          const text = node.args[0]!;
          store(ctx, 'requests', parseNumber(text) ?? ctx.reject('invalid number', { arg: 0 }));
        },
      },
    },
  }),
});
