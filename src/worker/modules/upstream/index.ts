import { In } from '../../../shared/config/context.js';
import { blockError } from '../../../shared/config/errors.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import type { WorkerEnv } from '../../env.js';
import type { SealedZone } from '../../fleet/settings.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import { readResolver } from '../../resolver/directive/read-resolver.js';
import { FleetServers } from '../../status/fleet-servers.js';
import { type ProtocolRuntime, runtimePart } from '../../task/protocol-runtime.js';
import { peerZone } from '../../upstream/balancing/peer-zone.js';
import { buildGroup, buildImpliedGroup } from '../../upstream/group/group-build.js';
import {
  type Declaration,
  declarations,
  declareGroup,
  type GroupServer,
  type GroupSettings,
  groupScope,
  NO_SERVERS,
  type UpstreamInfo,
} from '../../upstream/group/group-config.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { SERVER_CHANGES_BYTES, serverChangesZone } from '../../upstream/group/server-changes.js';
import { readServer } from './server.js';

function addImplied(conf: Readonly<{ all: readonly Declaration[] }>, runtime: ProtocolRuntime): void {
  for (const declaration of conf.all) {
    if (!declaration.explicit) {
      groupsOf(runtime).add(buildImpliedGroup(declaration, runtime));
    }
  }
}

const followed = runtimePart<{ yes: boolean }>(() => ({ yes: false }));

function addGroup(conf: Readonly<GroupSettings>, runtime: ProtocolRuntime, env: WorkerEnv): void {
  groupsOf(runtime).add(buildGroup(conf, runtime, env));
  if (conf.changes !== undefined && env.replicas !== undefined && !followed(runtime).yes) {
    followed(runtime).yes = true;
    env.replicas.add(new FleetServers(runtime, env.zones.open(conf.changes)));
  }
}

/** Keeps the groups that a configuration names, with or without `upstream {}`, and makes them when a worker starts. */
export const upstreamGroupsModule = defineModule({
  name: 'upstream_groups',
  main: declarations,
  upstream: groupScope,
  installMain: addImplied,
  installUpstream: addGroup,
  stream: { installMain: addImplied, installUpstream: addGroup },
});

const ANY_GROUP = In.UPSTREAM | In.STREAM_UPSTREAM;

const blocks = defineSharedScope<object>({
  fields: {},
  directives: {
    // nginx: ngx_http_upstream.
    upstream: {
      in: In.HTTP | In.STREAM,
      args: 1,
      block: 'directives',
      set(_conf, node, ctx) {
        const name = node.args[0]!;
        declareGroup(ctx, name, undefined);
        const info: UpstreamInfo = { kind: 'upstream', name };
        const inside = ctx.block.context === In.STREAM ? In.STREAM_UPSTREAM : In.UPSTREAM;
        const block = ctx.openBlock(node, inside, info);
        // One with a zone may wait for servers: see checkGroup.
        if (block.seen('server') === undefined && block.seen('state') === undefined && block.seen('zone') === undefined) {
          throw blockError(node, NO_SERVERS);
        }
      },
    },
    server: {
      in: ANY_GROUP,
      args: { min: 1 },
      set(_conf, node, ctx) {
        const group = ctx.conf(groupScope);
        if (group.state !== undefined) {
          ctx.reject('is incompatible with "state"');
        }
        group.servers = [...(group.servers ?? []), readServer(node, ctx)];
      },
    },
    zone: { in: ANY_GROUP, args: [1, 2, 3], set: (_conf, node, ctx) => setZone(node, ctx) },
    // NGINX Plus: the servers that the API adds and changes.
    state: { in: ANY_GROUP, args: 1, set: (_conf, node, ctx) => readState(node, ctx) },
    // nginx: ngx_http_upstream_resolver.
    resolver: {
      in: ANY_GROUP,
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
      in: ANY_GROUP,
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

/** Takes the servers from the file that keeps them. */
function readState(node: DirectiveNode, ctx: SharedContext): void {
  const group = ctx.conf(groupScope);
  if (group.state !== undefined) {
    ctx.reject('is duplicate');
  }
  if (group.servers !== undefined) {
    ctx.reject('is incompatible with "server"');
  }
  const [file] = node.args as [string];
  if (file === '') {
    ctx.reject('needs the name of a file', { arg: 0 });
  }
  const servers: GroupServer[] = [];
  group.state = ctx.path(file);
  ctx.fileLines(group.state, (line, lineCtx) => {
    if (line.name !== 'server' || line.args.length === 0) {
      lineCtx.fail(`unexpected "${line.name}" in the state of an upstream`);
    }
    servers.push(readServer(line, lineCtx));
  });
  group.servers = servers;
}

// nginx: ngx_http_upstream_zone. Syntax: zone name [size] [sync]; the last parameter is ours.
function setZone(node: DirectiveNode, ctx: SharedContext): void {
  const sync = node.args.length > 1 && node.args.at(-1) === 'sync';
  const [name, size, more] = (sync ? node.args.slice(0, -1) : node.args) as [string, string | undefined, string | undefined];
  if (more !== undefined) {
    ctx.fail('invalid number of arguments in "zone" directive');
  }
  if (name === '') {
    ctx.fail('invalid zone name ""', { arg: 0 });
  }
  const bytes = size === undefined ? 0 : (parseSize(size) ?? ctx.fail(`invalid zone size "${size}"`, { arg: 1 }));
  if (size !== undefined && bytes === 0) {
    ctx.fail(`zone "${name}" is too small`, { arg: 1 });
  }
  const group = ctx.conf(groupScope);
  group.zone = ctx.zone(peerZone, name, { bytes, data: undefined });
  if (sync) {
    const protocol = ctx.block.context === In.STREAM_UPSTREAM ? 'stream' : 'http';
    const data: SealedZone = { sync: true, sealed: true, said: '"sync" of "zone" in an upstream' };
    group.changes = ctx.zone(serverChangesZone, ` upstream changes ${protocol}`, { bytes: SERVER_CHANGES_BYTES, data });
  }
}

/** `upstream {}` and its `server` lines. nginx: ngx_http_upstream_module. */
export const upstreamModule = defineModule({ name: 'upstream', main: blocks });
