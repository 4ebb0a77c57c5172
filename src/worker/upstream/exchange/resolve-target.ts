import { ERROR as ERR } from '../../../shared/log/level.js';
import { askedName, RESOLVE, type Resolved, resolveErrorText } from '../../resolver/resolver.js';
import { RoundRobinPicker } from '../balancing/round-robin.js';
import { groupsOf, plainPeers, unixPeer } from '../group/groups.js';
import type { ResolvedTarget } from './conf.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * Finds the peers of a backend that was named at request time. Returns what ends the look-up of its name; null: none is under way.
 * nginx: ngx_http_upstream_init_request.
 */
export function startResolving(u: UpstreamRequest, target: ResolvedTarget): (() => void) | null {
  const { r, peer } = u;
  peer.defaultTlsName(target.host);
  const group = groupsOf(r.http).find(target.host, target.port, target.noPort);
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
    u.log(ERR, `no port in upstream "${target.host}"`);
    u.finalize(500);
    return null;
  }
  if (target.address !== undefined) {
    peer.usePicker(new RoundRobinPicker(r, plainPeers(target.host, [target.address], target.port)));
    return null;
  }
  const { resolver, resolverTimeout } = r.location.settings;
  if (resolver === undefined) {
    u.log(ERR, `no resolver defined to resolve ${target.host}`);
    u.finalize(502);
    return null;
  }
  const cancel = resolver.resolve(target.host, resolverTimeout, (result) => resolved(u, target, result));
  return u.done ? null : cancel;
}

// nginx: ngx_http_upstream_resolve_handler.
function resolved(u: UpstreamRequest, target: ResolvedTarget, result: Resolved): void {
  u.peer.nameResolved();
  if (u.done) {
    return;
  }
  if (result.state !== RESOLVE.OK) {
    u.log(ERR, `${askedName(target.host)} could not be resolved (${result.state}: ${resolveErrorText(result.state)})`);
    u.finalize(502);
    return;
  }
  u.peer.usePicker(new RoundRobinPicker(u.r, plainPeers(target.host, result.addresses, target.port)));
}
