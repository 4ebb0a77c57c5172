import { errnoText } from '../../../shared/system/errno.js';
import { type GeoipDatabase, openGeoip } from '../../lookup/geoip-database.js';
import type { SharedContext } from '../../module.js';

/** What stands near the end of files of MaxMind's newer form. */
const NEWER_MARK = '\xab\xcd\xefMaxMind.com';
const MOST_BEHIND_MARK = 128 * 1024;
const NEWER_HINT = 'the file is of the newer form, GeoIP2 (.mmdb), which neither nginx nor sluice reads';

/** Reads `file [utf8]` of a directive. `what`: the name of such databases in a message. nginx: ngx_http_geoip_country and its kin. */
export function readDatabase(ctx: SharedContext, editions: readonly number[], what: string): GeoipDatabase {
  const [path, charset] = ctx.node.args as readonly [string, string?];
  const bytes = readBytes(path, ctx);
  const newer = bytes.includes(NEWER_MARK, bytes.length - MOST_BEHIND_MARK);
  const database =
    openGeoip(bytes) ?? ctx.fail(failure(path), { arg: 0, hint: newer ? NEWER_HINT : 'the file is no database of the form GeoIP Legacy' });
  if (charset !== undefined && charset !== 'utf8') {
    ctx.fail(`invalid parameter "${charset}"`, { arg: 1 });
  }
  database.utf8 = charset !== undefined;
  if (!editions.includes(database.edition)) {
    ctx.fail(`invalid ${what} database "${path}" type:${database.edition}`, { arg: 0, ...(newer ? { hint: NEWER_HINT } : {}) });
  }
  if (newer) {
    // A file that does not say what it is counts as one of countries.
    ctx.warn(`no country is found in "${path}": ${NEWER_HINT}`, { arg: 0 });
  }
  return database;
}

function readBytes(path: string, ctx: SharedContext): string {
  try {
    // As with nginx, a relative name begins at the folder that the program was started in.
    return ctx.named.readStated(path);
  } catch (error) {
    const place = path.startsWith('/') ? '' : '; a relative name starts at the folder that the server was started in';
    return ctx.fail(failure(path), { arg: 0, hint: `${errnoText(error)}${place}` });
  }
}

const failure = (path: string): string => `GeoIP_open("${path}") failed`;
