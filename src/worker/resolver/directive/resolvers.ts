import { resolverKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import { CountedResolver } from '../counted-resolver.js';
import { DnsResolver } from '../dns-resolver.js';
import type { Resolver } from '../resolver.js';
import type { ResolverSpec } from '../resolver-spec.js';

/** The resolver of a `resolver` line; the blocks that take the line over share it, with what it remembers. */
export function resolverOf(spec: ResolverSpec, runtime: ProtocolRuntime, env: WorkerEnv): Resolver {
  const known = runtime.resolvers.get(spec);
  if (known !== undefined) {
    return known;
  }
  if (env.resolver !== undefined) {
    return env.resolver;
  }
  const dns = new DnsResolver(spec, env.log);
  env.onClose(() => dns.close());
  const { statusZone } = spec;
  const made = statusZone === '' ? dns : new CountedResolver(dns, env.zones.counters.meters.meter(resolverKind, statusZone));
  runtime.resolvers.set(spec, made);
  return made;
}
