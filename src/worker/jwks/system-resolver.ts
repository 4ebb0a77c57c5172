import { lookupHost } from '../../shared/address/lookup-host.js';
import { RESOLVE, type Resolved, type Resolver } from '../resolver/resolver.js';

/** Answers from the system's look-up, which a location without a `resolver` has to do with. */
export const systemResolver: Pick<Resolver, 'resolve'> = {
  resolve(name, _timeoutMs, done: (result: Resolved) => void) {
    let wanted = true;
    lookupHost(name).then(
      (addresses) => wanted && done({ state: RESOLVE.OK, addresses, validUntil: 0 }),
      () => wanted && done({ state: RESOLVE.NXDOMAIN, addresses: [], validUntil: 0 }),
    );
    return () => {
      wanted = false;
    };
  },
};
