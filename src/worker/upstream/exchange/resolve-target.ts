import { ERROR as ERR } from '../../../shared/log/level.js';
import { askedName, RESOLVE, type Resolved, resolveErrorText } from '../../resolver/resolver.js';
import { RoundRobinPicker } from '../balancing/round-robin.js';
import { groupsOf, plainPeers, unixPeer } from '../group/groups.js';
import type { ResolvedTarget } from './conf.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Finds the peers of a backend that was named at request time. nginx: ngx_http_upstream_init_request. */
export function startResolving(u: UpstreamRequest, target: ResolvedTarget): void {
  const { r } = u;
  if (u.tlsName === '') u.tlsName = target.host;
  const group = groupsOf(r.http).find(target.host, target.port, target.noPort);
  if (group !== undefined) {
    u.tlsName = group.name;
    u.useGroup(group);
    return;
  }
  if (target.unix) {
    u.usePicker(new RoundRobinPicker(r, unixPeer(target.host)));
    return;
  }
  if (target.port === 0) {
    u.log(ERR, `no port in upstream "${target.host}"`);
    u.finalize(500);
    return;
  }
  if (target.address !== undefined) {
    u.usePicker(new RoundRobinPicker(r, plainPeers(target.host, [target.address], target.port)));
    return;
  }
  const { resolver, resolverTimeout } = r.location.settings;
  if (resolver === undefined) {
    u.log(ERR, `no resolver defined to resolve ${target.host}`);
    u.finalize(502);
    return;
  }
  u.cancelResolve = resolver.resolve(target.host, resolverTimeout, (result) => resolved(u, target, result));
  if (u.done) u.cancelResolve = null;
}

// nginx: ngx_http_upstream_resolve_handler.
function resolved(u: UpstreamRequest, target: ResolvedTarget, result: Resolved): void {
  u.cancelResolve = null;
  if (u.done) return;
  if (result.state !== RESOLVE.OK) {
    u.log(ERR, `${askedName(target.host)} could not be resolved (${result.state}: ${resolveErrorText(result.state)})`);
    u.finalize(502);
    return;
  }
  u.usePicker(new RoundRobinPicker(u.r, plainPeers(target.host, result.addresses, target.port)));
}
