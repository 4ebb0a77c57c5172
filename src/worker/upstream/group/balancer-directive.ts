import type { SharedContext } from '../../module.js';
import type { BalancerFactory } from './balancer-factory.js';
import { ACCEPTS, ACCEPTS_ALL, groupScope } from './group-config.js';

/** What `server` lines may say where a method looks at all peers alike: it knows no backup and no weight that grows. */
export const ACCEPTS_ALIKE: number = ACCEPTS_ALL & ~ACCEPTS.BACKUP & ~ACCEPTS.SLOW_START;

/** Makes a method the one of the group that is being read. */
export function setBalancer(ctx: SharedContext, balancer: BalancerFactory, accepts: number): void {
  const group = ctx.conf(groupScope);
  if (group.balancer !== undefined || group.affinity !== undefined) {
    const hint = group.affinity === undefined ? {} : { hint: '`sticky` has to stand below the method: above it, it is lost' };
    ctx.warn('load balancing method redefined', hint);
  }
  group.balancer = balancer;
  group.affinity = undefined;
  group.accepts = accepts;
}
