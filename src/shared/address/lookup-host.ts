import { lookup } from 'node:dns/promises';

/** What stands in names that the system is asked for. */
const NAME = /^[!-~]+$/;

/**
 * Asks the system for a host's addresses; rejects with its error. Node would turn other bytes into the letters that look like them ("²"
 * is "2") and ask for what comes of that: no such name is found, as with nginx.
 */
export async function lookupHost(host: string): Promise<readonly string[]> {
  if (!NAME.test(host)) {
    throw Object.assign(new Error('host not found'), { code: 'ENOTFOUND' });
  }
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}
