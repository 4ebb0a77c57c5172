import type { LinkContext } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import type { Request } from '../../http/request/request.js';
import type { Grants } from '../../js/handlers/confine.js';
import type { FolderGrant } from '../../js/handlers/confine-fs.js';
import type { Context } from '../../module.js';

/** `js_isolation thread`: how many threads, how many MiB each may use, and what its code may do; undefined: whatever Node can. */
export interface Isolation {
  readonly threads: number;
  readonly memory: number;
  readonly grants: Grants | undefined;
}

/** MiB of a thread whose code is not trusted, where nobody says how many. */
const CONFINED_MEMORY = 128;

const HOST = /^(?:\*|(?:\*\.)?[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Reads `allow=`: words between commas, of which `none` grants nothing. */
function readGrants(text: string, fail: (hint: string) => never): Grants {
  const fetch: string[] = [];
  const folders: FolderGrant[] = [];
  for (const one of text === 'none' ? [] : text.split(',')) {
    const at = one.indexOf(':');
    const [kind, value] = at === -1 ? [one, undefined] : [one.slice(0, at), one.slice(at + 1)];
    if (kind === 'fetch' && (value === undefined || HOST.test(value))) {
      fetch.push(value?.toLowerCase() ?? '*');
    } else if ((kind === 'fs' || kind === 'fs-write') && value?.startsWith('/') === true) {
      folders.push({ path: value, write: kind === 'fs-write' });
    } else {
      fail(`"${one}" is none of \`none\`, \`fetch\`, \`fetch:HOST\`, \`fetch:HOST:PORT\`, \`fs:/FOLDER\`, \`fs-write:/FOLDER\``);
    }
  }
  return { fetch, folders };
}

/** Reads a `js_isolation` line. */
export function readIsolation(conf: { isolation?: Isolation | undefined }, node: Context['node'], ctx: Context): void {
  const [where, ...rest] = node.args;
  let threads = 2;
  let memory = 0;
  let grants: Grants | undefined;
  if ('isolation' in conf) {
    ctx.reject('is duplicate');
  }
  if (where !== 'thread' && where !== 'off') {
    ctx.fail(`invalid value "${where}"`, { arg: 0, hint: 'write `thread` or `off`' });
  }
  for (const [i, text] of rest.entries()) {
    const [name, value = ''] = text.split('=');
    if (name === 'threads' && /^[1-9]\d?$/.test(value)) {
      threads = Number(value);
    } else if (name === 'memory' && (parseSize(value) ?? 0) >= 16 * 1024 * 1024) {
      memory = Math.floor(parseSize(value)! / (1024 * 1024));
    } else if (name === 'allow' && value !== '') {
      grants = readGrants(value, (hint) => ctx.fail(`invalid parameter "${text}"`, { arg: i + 1, hint }));
    } else {
      ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    }
  }
  conf.isolation =
    where === 'off' ? undefined : { threads, memory: grants !== undefined && memory === 0 ? CONFINED_MEMORY : memory, grants };
}

/** The functions of a location that run in the worker itself. */
interface WorkerFunctions {
  readonly isolation: Isolation | undefined;
  readonly access: string | undefined;
  readonly rewrite: string | undefined;
  readonly headerFilter: string | undefined;
  readonly bodyFilter: string | undefined;
  readonly log: string | undefined;
  readonly periodics: readonly unknown[];
}

/** Whether a location's code has only what is granted. Refuses what would load its modules into the worker itself. */
export function checkConfined(conf: WorkerFunctions, ctx: LinkContext<Request>): boolean {
  if (conf.isolation?.grants === undefined) {
    return false;
  }
  const { access, rewrite, headerFilter, bodyFilter, log, periodics } = conf;
  const named = { js_access: access, js_rewrite: rewrite, js_header_filter: headerFilter, js_body_filter: bodyFilter, js_log: log };
  const found = Object.entries(named).find(([, name]) => name !== undefined)?.[0] ?? (periodics.length > 0 ? 'js_periodic' : undefined);
  if (found !== undefined) {
    ctx.fail(`"${found}" cannot be where "js_isolation" has "allow=": its function runs in the worker itself`);
  }
  return true;
}
