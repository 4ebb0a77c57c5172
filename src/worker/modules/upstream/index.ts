import { In } from '../../../shared/config/context.js';
import { blockError } from '../../../shared/config/errors.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { readResolver } from '../../resolver/directive/read-resolver.js';
import { peerZone } from '../../upstream/balancing/peer-zone.js';
import { buildGroup, buildImpliedGroup } from '../../upstream/group/group-build.js';
import { declarations, declareGroup, groupScope, type UpstreamInfo } from '../../upstream/group/group-config.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { readServer } from './server.js';

/** Keeps the groups that a configuration names, with or without `upstream {}`, and makes them when a worker starts. */
export const upstreamGroupsModule = defineModule({
  name: 'upstream_groups',
  main: declarations,
  upstream: groupScope,
  installMain(conf, http) {
    for (const declaration of conf.all) {
      if (!declaration.explicit) {
        groupsOf(http).add(buildImpliedGroup(declaration));
      }
    }
  },
  installUpstream(conf, http, env) {
    groupsOf(http).add(buildGroup(conf, http, env));
  },
});

const blocks = defineScope<object>({
  fields: {},
  directives: {
    // nginx: ngx_http_upstream.
    upstream: {
      in: In.HTTP,
      args: 1,
      block: 'directives',
      set(_conf, node, ctx) {
        const name = node.args[0]!;
        declareGroup(ctx, name, undefined);
        const info: UpstreamInfo = { kind: 'upstream', name };
        const block = ctx.openBlock(node, In.UPSTREAM, info);
        if (block.seen('server') === undefined) {
          throw blockError(node, 'no servers are inside upstream');
        }
      },
    },
    server: {
      in: In.UPSTREAM,
      args: { min: 1 },
      set(_conf, node, ctx) {
        const group = ctx.conf(groupScope);
        group.servers = [...(group.servers ?? []), readServer(node, ctx)];
      },
    },
    zone: { in: In.UPSTREAM, args: [1, 2], set: (_conf, node, ctx) => setZone(node, ctx) },
    // nginx: ngx_http_upstream_resolver.
    resolver: {
      in: In.UPSTREAM,
      args: { min: 1 },
      set(_conf, _node, ctx) {
        const group = ctx.conf(groupScope);
        if (group.resolver !== undefined) {
          ctx.reject('is duplicate');
        }
        group.resolver = readResolver(ctx);
      },
    },
    resolver_timeout: {
      in: In.UPSTREAM,
      args: 1,
      set(_conf, node, ctx) {
        const group = ctx.conf(groupScope);
        if (group.resolverTimeout !== undefined) {
          ctx.reject('is duplicate');
        }
        group.resolverTimeout = parseTime(node.args[0]!, 'ms') ?? ctx.reject('invalid value', { arg: 0 });
      },
    },
  },
});

// nginx: ngx_http_upstream_zone.
function setZone(node: DirectiveNode, ctx: Context): void {
  const [name, size] = node.args as [string, string | undefined];
  if (name === '') {
    ctx.fail('invalid zone name ""', { arg: 0 });
  }
  const bytes = size === undefined ? 0 : (parseSize(size) ?? ctx.fail(`invalid zone size "${size}"`, { arg: 1 }));
  if (size !== undefined && bytes === 0) {
    ctx.fail(`zone "${name}" is too small`, { arg: 1 });
  }
  ctx.conf(groupScope).zone = ctx.zone(peerZone, name, { bytes, data: undefined });
}

/** `upstream {}` and its `server` lines. nginx: ngx_http_upstream_module. */
export const upstreamModule = defineModule({ name: 'upstream', main: blocks });
