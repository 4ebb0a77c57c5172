import type { WorkerEnv } from '../../env.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import { DnsResolver } from '../dns-resolver.js';
import type { Resolver } from '../resolver.js';
import type { ResolverSpec } from '../resolver-spec.js';

/** The resolver of a `resolver` line; the blocks that take the line over share it, with what it remembers. */
export function resolverOf(spec: ResolverSpec, http: HttpRuntime, env: WorkerEnv): Resolver {
  const known = http.resolvers.get(spec);
  if (known !== undefined) {
    return known;
  }
  const made = new DnsResolver(spec, env.log);
  http.resolvers.set(spec, made);
  env.onClose(() => made.close());
  return made;
}
