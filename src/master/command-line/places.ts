import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadOptions } from '../../shared/config/configuration.js';
import { defaultLogPath, SYSTEM_PREFIX } from '../../shared/config/paths.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { IS_EXECUTABLE } from '../../shared/system/executable.js';
import { byteText } from '../../shared/text/native-text.js';
import type { CommandLine } from './cli.js';

/** Where things are when the command line does not say. nginx fixes these when it is compiled. */
export interface Places {
  /** Ends in `/`. */
  readonly prefix: string;
  /** Paths relative to the prefix, or full ones. */
  readonly conf: string;
  readonly errorLog: string;
  readonly pid: string;
}

const SYSTEM: Places = {
  prefix: SYSTEM_PREFIX,
  conf: `${SYSTEM_PREFIX}sluice.conf`,
  errorLog: defaultLogPath('error.log', SYSTEM_PREFIX),
  pid: '/run/sluice/sluice.pid',
};

/**
 * The default places: those of an installed system when `/etc/sluice/sluice.conf` exists, else folders under the package's own. With a
 * prefix of its own (`-p`) a server keeps everything under that. A single executable has no folder of its own that anybody knows: without
 * either, it serves `sluice.conf` of the current directory, as a project.
 */
export function defaultPlaces(ownPrefix: boolean): Places {
  if (!ownPrefix && existsSync(SYSTEM.conf)) {
    return SYSTEM;
  }
  if (!ownPrefix && IS_EXECUTABLE) {
    const prefix = `${byteText(process.cwd())}/`.replace(/\/+$/, '/');
    return { prefix, conf: 'sluice.conf', errorLog: 'logs/error.log', pid: 'logs/sluice.pid' };
  }
  const prefix = byteText(fileURLToPath(new URL('..', import.meta.url)));
  return { prefix, conf: 'conf/sluice.conf', errorLog: 'logs/error.log', pid: 'logs/sluice.pid' };
}

type Line = Pick<CommandLine, 'prefix' | 'conf' | 'globals' | 'errorLog' | 'signal'>;

/**
 * Completes the paths of the command line. As `sluice`, without `-p`, the folder of the file that `-c` names is the prefix, unless the file
 * belongs to the default places: so each project has its own logs, pid file and state (docs/decisions/0013). nginx: ngx_process_options.
 */
export function loadOptions(line: Line, name: 'nginx' | 'sluice' = 'sluice'): LoadOptions {
  const places = defaultPlaces(line.prefix !== undefined);
  const project = name === 'sluice' ? projectFile(line, places) : undefined;
  if (project !== undefined) {
    const folder = project.slice(0, project.lastIndexOf('/') + 1);
    return { ...complete(line, { ...defaultPlaces(true), prefix: folder }, project, folder), project: true };
  }
  const given = line.prefix ?? places.prefix;
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`;
  return complete(line, places, entryPath(line, places.conf, prefix), prefix);
}

function complete(line: Line, places: Places, entry: string, prefix: string): LoadOptions {
  return {
    entry,
    prefix,
    confPrefix: entry.slice(0, entry.lastIndexOf('/') + 1),
    errorLog: line.errorLog ?? places.errorLog,
    pid: places.pid,
    globals: line.globals ?? '',
    signalling: line.signal !== undefined,
  };
}

/**
 * The file that `-c` names without `-p`, looked for in the current directory first; undefined for one of the default places. Without `-c` a
 * single executable's is the current directory's.
 */
function projectFile({ prefix, conf }: Line, places: Places): string | undefined {
  const own = IS_EXECUTABLE && places !== SYSTEM ? undefined : places.prefix;
  const named = conf ?? (own === undefined ? places.conf : undefined);
  if (prefix !== undefined || named === undefined) {
    return undefined;
  }
  const path = named.startsWith('/') ? named : posix.join(byteText(process.cwd()), named);
  const isOwn = own !== undefined && (path.startsWith(own) || (path !== named && !exists(path) && exists(own + named)));
  return isOwn ? undefined : path;
}

/**
 * The main configuration file. A relative one starts from the prefix, as in nginx. Without `-p` that is a folder which users may never have
 * seen, so what is not there is looked for in the current directory.
 */
function entryPath({ prefix: ownPrefix, conf }: Pick<CommandLine, 'prefix' | 'conf'>, byDefault: string, prefix: string): string {
  const path = conf ?? byDefault;
  if (path.startsWith('/')) {
    return path;
  }
  if (conf !== undefined && ownPrefix === undefined && !exists(prefix + conf)) {
    const here = posix.join(byteText(process.cwd()), conf);
    if (exists(here)) {
      return here;
    }
  }
  return prefix + path;
}

const exists = (path: string): boolean => existsSync(fsPath(path));
