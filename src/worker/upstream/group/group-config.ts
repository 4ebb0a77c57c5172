import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { type HostRef, type LinkContext, own } from '../../../shared/config/define.js';
import { blockError } from '../../../shared/config/errors.js';
import type { Pos } from '../../../shared/config/language/ast.js';
import type { BackendUrl } from '../../address/backend-url.js';
import { defineSharedScope, type SharedContext } from '../../module.js';
import { resolverScope } from '../../resolver/directive/resolver-settings.js';
import type { ResolverSpec } from '../../resolver/resolver-spec.js';
import type { ClientTask } from '../../task/client-task.js';
import type { PeerOptions } from '../balancing/peer.js';
import type { PeerZoneRef } from '../balancing/peer-zone.js';
import type { KeepaliveSettings } from '../connection/idle-pool.js';
import type { AffinityFactory, BalancerFactory, ChooserFactory } from './balancer-factory.js';
import type { NamesZoneRef } from './names-zone.js';
import type { ServerChangesRef } from './server-changes.js';

/** What a balancing method lets `server` lines say, as bits. nginx: NGX_HTTP_UPSTREAM_*. */
export const ACCEPTS = {
  WEIGHT: 0x2,
  MAX_FAILS: 0x4,
  FAIL_TIMEOUT: 0x8,
  DOWN: 0x10,
  BACKUP: 0x20,
  MODIFY: 0x40,
  MAX_CONNS: 0x100,
  /** Ours: nginx sells slow_start. */
  SLOW_START: 0x200,
} as const;

/** What to do about a backend whose name is not known yet when the server starts. */
export const UNKNOWN_BACKEND =
  'to start without its address, write `server NAME resolve=lazy;` into an `upstream` (with a `resolver`), or put the name into a variable: it is looked up then when a request comes';

export const ACCEPTS_ALL: number =
  ACCEPTS.WEIGHT |
  ACCEPTS.MAX_FAILS |
  ACCEPTS.FAIL_TIMEOUT |
  ACCEPTS.DOWN |
  ACCEPTS.BACKUP |
  ACCEPTS.MODIFY |
  ACCEPTS.MAX_CONNS |
  ACCEPTS.SLOW_START;

/** One `server` line. nginx: ngx_http_upstream_server_t. */
export interface GroupServer {
  readonly url: BackendUrl;
  readonly options: PeerOptions;
  readonly backup: boolean;
  /** A name that is looked up once, at the start; undefined for literals and for `resolve`. */
  readonly host: HostRef | undefined;
  /** Looked up again and again while the server runs; `lazy` starts without an answer. */
  readonly resolve: 'no' | 'yes' | 'lazy';
  /** Name of SRV records; empty for addresses. */
  readonly service: string;
}

/** Servers and method of one `upstream {}`. */
export interface GroupSettings {
  /** As written behind `upstream`. */
  name: string;
  servers: readonly GroupServer[];
  /** Bits of ACCEPTS. */
  accepts: number;
  balancer: BalancerFactory | undefined;
  /** Sends requests of one session to one server; stands before the method, whatever that is. */
  affinity: AffinityFactory | undefined;
  /** Chooses servers before the method is asked. */
  chooser: ChooserFactory | undefined;
  keepalive: Partial<KeepaliveSettings> | undefined;
  /** Where the workers share what they know of the servers. */
  zone: PeerZoneRef | undefined;
  /** Undefined: changes of servers stay on this machine. */
  changes: ServerChangesRef | undefined;
  /** Where names marked `resolve` are looked up; undefined: as the `http` block says. */
  resolver: ResolverSpec | undefined;
  resolverTimeout: number | undefined;
  /** The file that keeps the servers; undefined: they stand in the configuration. */
  state: string | undefined;
  /** Addresses that names had in the configuration before; set when a name is marked `resolve`. */
  names: NamesZoneRef | undefined;
}

const GROUPS: number = In.UPSTREAM | In.STREAM_UPSTREAM;

/** The settings inside `upstream {}`, for the modules whose directives stand there. */
export const groupScope = defineSharedScope<GroupSettings>({
  fields: {
    name: own(''),
    servers: own<readonly GroupServer[]>([]),
    accepts: own(ACCEPTS_ALL),
    balancer: own<BalancerFactory | undefined>(undefined),
    affinity: own<AffinityFactory | undefined>(undefined),
    chooser: own<ChooserFactory | undefined>(undefined),
    keepalive: own<Partial<KeepaliveSettings> | undefined>(undefined),
    zone: own<PeerZoneRef | undefined>(undefined),
    changes: own<ServerChangesRef | undefined>(undefined),
    resolver: own<ResolverSpec | undefined>(undefined),
    resolverTimeout: own<number | undefined>(undefined),
    state: own<string | undefined>(undefined),
    names: own<NamesZoneRef | undefined>(undefined),
  },
  directives: {},
  finish(conf, _parent, { block, context }) {
    if ((context & GROUPS) !== 0) {
      conf.name = (block.info as UpstreamInfo).name;
    }
  },
  link(conf, ctx, { block, context }) {
    if ((context & GROUPS) !== 0) {
      checkGroup(conf, ctx, block);
    }
  },
});

// nginx: the first part of ngx_http_upstream_init_round_robin.
function checkGroup(conf: Readonly<GroupSettings>, ctx: LinkContext<ClientTask>, block: Block): void {
  const node = block.node!;
  const where = `upstream "${conf.name}" in ${node.pos.file}:${node.endLine}`;
  const dynamic = conf.servers.filter((server) => server.resolve !== 'no');
  if (conf.zone === undefined && dynamic.some((server) => server.resolve === 'yes')) {
    ctx.fail(`resolving names at run time requires ${where} to be in shared memory`, null);
  }
  const resolver = conf.resolver ?? ctx.settings(resolverScope, block.parent!).resolver;
  if (dynamic.length > 0 && (resolver === undefined || resolver.servers.length === 0)) {
    ctx.fail(`no resolver defined to resolve names at run time in ${where}`, null);
  }
  if (conf.state !== undefined && conf.zone === undefined) {
    ctx.fail(`"state" requires ${where} to be in shared memory`, null);
  }
  if (conf.servers.length === 0 && conf.state === undefined) {
    if (!filledByApi(ctx, block)) {
      throw blockError(node, NO_SERVERS);
    }
    return;
  }
  if (conf.state === undefined && conf.servers.every((server) => server.backup)) {
    ctx.fail(`no servers in ${where}`, null);
  }
}

/** nginx's message for an `upstream` block that has none. */
export const NO_SERVERS = 'no servers are inside upstream';

/** Whether a location of `http` has an API that can add servers to a group of any block. */
function filledByApi(ctx: LinkContext<ClientTask>, block: Block): boolean {
  let root = block;
  while (root.parent !== undefined) {
    root = root.parent;
  }
  return root.children.some((child) => child.context === In.HTTP && ctx.settings(declarations, child).filled);
}

/** What an `upstream` block's directive knows about it. */
export interface UpstreamInfo {
  readonly kind: 'upstream';
  readonly name: string;
}

/** A group of backends that the configuration names somewhere. nginx: ngx_http_upstream_srv_conf_t while it is read. */
export interface Declaration {
  readonly host: string;
  port: number;
  readonly noPort: boolean;
  /** There is an `upstream {}` of this name. */
  explicit: boolean;
  /** Where it was named first. */
  readonly pos: Pos;
  readonly url: BackendUrl | undefined;
  readonly addresses: HostRef | undefined;
}

/** Whether it is an address of its own, and no group that an `upstream` block makes. */
const hasAddress = ({ explicit, url }: Declaration): boolean => !explicit && url?.family === 'inet';

/** All groups named in an `http` block. */
export const declarations = defineSharedScope<{
  all: Declaration[];
  byHost: Map<string, Declaration[]>;
  /** There is an API that can add servers. */
  filled: boolean;
}>({
  fields: { all: own<Declaration[]>([]), byHost: own(new Map<string, Declaration[]>()), filled: own(false) },
  directives: {},
  // nginx: the part of ngx_http_upstream_init_round_robin for groups that no block makes.
  link({ all }, ctx) {
    const bare = all.find((declaration) => hasAddress(declaration) && declaration.port === 0);
    if (bare !== undefined) {
      ctx.fail(`no port in upstream "${bare.host}"`, bare.pos);
    }
  },
});

/**
 * Finds or adds the group that a directive names: `url` is undefined for the `upstream` block itself.
 * nginx: ngx_http_upstream_add.
 */
export function declareGroup(ctx: SharedContext, name: string, url: BackendUrl | undefined): Declaration {
  const conf = ctx.conf(declarations);
  const all = (conf.all ??= []);
  const explicit = url === undefined;
  const [port, noPort] = url === undefined ? [0, true] : [url.port, url.noPort];
  const byHost = (conf.byHost ??= new Map());
  const lower = name.toLowerCase();
  const same = byHost.get(lower) ?? [];
  for (const known of same) {
    if (explicit && known.explicit) {
      return ctx.fail(`duplicate upstream "${name}"`, { arg: 0 });
    }
    if (known.explicit && !noPort) {
      return ctx.fail(`upstream "${name}" may not have port ${port}`, { arg: 0 });
    }
    if (explicit && !known.noPort) {
      return ctx.fail(`upstream "${name}" may not have port ${known.port} in ${known.pos.file}:${known.pos.line}`);
    }
    if (known.port !== 0 && port !== 0 && known.port !== port) {
      continue;
    }
    if (explicit) {
      known.explicit = true;
      known.port = 0;
    }
    return known;
  }
  const { node } = ctx;
  const made: Declaration = {
    host: name,
    port,
    noPort,
    explicit,
    pos: { ...node.pos, line: node.endLine },
    url,
    addresses:
      url !== undefined && url.family === 'inet' && url.address === undefined
        ? ctx.host(url.host, 'upstream', { hint: UNKNOWN_BACKEND, needed: () => hasAddress(made) && made.port !== 0 })
        : undefined,
  };
  all.push(made);
  same.push(made);
  byHost.set(lower, same);
  return made;
}
