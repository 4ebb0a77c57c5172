import { ERROR, type Level } from '../../../shared/log/level.js';
import { askedName, RESOLVE, type Resolved, type Resolver, resolveErrorText } from '../../resolver/resolver.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Picker } from '../balancing/balancer.js';
import { RoundRobinPicker } from '../balancing/round-robin.js';
import type { UpstreamGroup } from './group.js';
import { groupsOf, peersOfAddresses, unixPeer } from './groups.js';

/** A backend whose name had variables, as the request or session gives it. nginx: ngx_http_upstream_resolved_t. */
export interface ResolvedTarget {
  readonly host: string;
  readonly port: number;
  readonly noPort: boolean;
  /** `host` is the path of a unix socket. */
  readonly unix: boolean;
  /** The numeric address, when the name is one. */
  readonly address: string | undefined;
}

/** Whoever asks a backend that was named at run time. */
export interface TargetUser {
  readonly r: ClientTask;
  /** Nobody waits for the name any more. */
  readonly done: boolean;
  readonly peer: {
    defaultTlsName(name: string): void;
    useTlsName(name: string): void;
    useGroup(group: UpstreamGroup): void;
    usePicker(picker: Picker): void;
    /** The name was looked up: there is nothing to cancel any more. */
    nameResolved(): void;
  };
  log(level: Level, message: string): void;
  finalize(status: number): void;
}

/** How names are looked up there, and the status for one that cannot be. */
export interface TargetLookup {
  readonly resolver: Resolver | undefined;
  /** Milliseconds. */
  readonly resolverTimeout: number;
  readonly failed: number;
}

/**
 * Finds the peers of a backend that was named at run time. Returns what ends the look-up of its name; null: none is under way.
 * nginx: ngx_http_upstream_init_request, ngx_stream_proxy_handler.
 */
export function startResolving(u: TargetUser, target: ResolvedTarget, by: TargetLookup): (() => void) | null {
  const { r, peer } = u;
  peer.defaultTlsName(target.host);
  const group = groupsOf(r.protocol).find(target.host, target.port, target.noPort);
  if (group !== undefined) {
    peer.useTlsName(group.name);
    peer.useGroup(group);
    return null;
  }
  if (target.unix) {
    peer.usePicker(new RoundRobinPicker(r, unixPeer(target.host)));
    return null;
  }
  if (target.port === 0) {
    u.log(ERROR, `no port in upstream "${target.host}"`);
    u.finalize(500);
    return null;
  }
  if (target.address !== undefined) {
    peer.usePicker(new RoundRobinPicker(r, peersOfAddresses(target.host, [target.address], target.port)));
    return null;
  }
  const { resolver, resolverTimeout, failed } = by;
  if (resolver === undefined) {
    u.log(ERROR, `no resolver defined to resolve ${target.host}`);
    u.finalize(failed);
    return null;
  }
  const cancel = resolver.resolve(target.host, resolverTimeout, (result) => resolved(u, target, result, failed));
  return u.done ? null : cancel;
}

// nginx: ngx_http_upstream_resolve_handler.
function resolved(u: TargetUser, target: ResolvedTarget, result: Resolved, failed: number): void {
  u.peer.nameResolved();
  if (u.done) {
    return;
  }
  if (result.state !== RESOLVE.OK) {
    u.log(ERROR, `${askedName(target.host)} could not be resolved (${result.state}: ${resolveErrorText(result.state)})`);
    u.finalize(failed);
    return;
  }
  u.peer.usePicker(new RoundRobinPicker(u.r, peersOfAddresses(target.host, result.addresses, target.port)));
}
