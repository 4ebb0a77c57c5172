import { In } from '../../../shared/config/context.js';
import { defineModule, defineScope } from '../../module.js';
import { buildGroup, buildImpliedGroup } from '../../upstream/group-build.js';
import { declarations, declareGroup, groupScope, type UpstreamInfo } from '../../upstream/group-config.js';
import { readServer } from './server.js';

/** Keeps the groups that a configuration names, with or without `upstream {}`, and makes them when a worker starts. */
export const upstreamGroupsModule = defineModule({
  name: 'upstream_groups',
  main: declarations,
  upstream: groupScope,
  installMain(conf, http) {
    for (const declaration of conf.all) if (!declaration.explicit) http.upstreams.add(buildImpliedGroup(declaration));
  },
  installUpstream(conf, http, env) {
    http.upstreams.add(buildGroup(conf, env));
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
        if (!block.seen.has('server')) ctx.fail('no servers are inside upstream');
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
  },
});

/** `upstream {}` and its `server` lines. nginx: ngx_http_upstream_module. */
export const upstreamModule = defineModule({ name: 'upstream', main: blocks });
