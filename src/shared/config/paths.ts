/** Completes a relative path with a folder that ends in `/`. nginx: ngx_get_full_name. */
export function resolvePath(path: string, folder: string): string {
  return path.startsWith('/') ? path : folder + path;
}

/** The prefix of a server that is installed as part of the system, where nothing may be written. */
export const SYSTEM_PREFIX = '/etc/sluice/';
const SYSTEM_LOGS = '/var/log/sluice/';
const SYSTEM_CACHE = '/var/cache/sluice/';
const SYSTEM_STATE = '/var/lib/sluice/';

/** Full path of a log that no directive names. nginx: --http-log-path. */
export function defaultLogPath(name: string, prefix: string): string {
  return prefix === SYSTEM_PREFIX ? SYSTEM_LOGS + name : `${prefix}logs/${name}`;
}

/** Full path of a folder for temporary files that no directive names. nginx: --http-client-body-temp-path and its kin. */
export function defaultTempPath(name: string, prefix: string): string {
  return prefix === SYSTEM_PREFIX ? SYSTEM_CACHE + name : prefix + name;
}

/** Full path of a folder that no directive names, for what must outlive a restart. */
export function defaultStatePath(name: string, prefix: string): string {
  return prefix === SYSTEM_PREFIX ? SYSTEM_STATE + name : prefix + name;
}

/** The name of the folder in which configurations that served are kept; see {@link defaultStatePath}. */
export const HISTORY_FOLDER = 'configurations';
