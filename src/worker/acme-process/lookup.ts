import { isIP, type LookupFunction } from 'node:net';
import { RESOLVE, type Resolver, resolveErrorText } from '../resolver/resolver.js';

/** Looks hosts up at the name servers of a `resolver` line, in the form in which node:net asks. `timeout`: milliseconds. */
export const lookupBy =
  (resolver: Resolver, timeout: number): LookupFunction =>
  (hostname, options, done) => {
    resolver.resolve(hostname, timeout, ({ state, addresses }) => {
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      if (state !== RESOLVE.OK || found.length === 0) {
        const error = new Error(`${hostname} could not be resolved (${state}: ${resolveErrorText(state)})`);
        (done as (error: Error) => void)(error);
      } else if (options.all) {
        (done as (error: null, all: typeof found) => void)(null, found);
      } else {
        done(null, found[0]!.address, found[0]!.family);
      }
    });
  };
