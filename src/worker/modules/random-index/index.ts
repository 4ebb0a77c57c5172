import { type Dirent, readdirSync, statSync } from 'node:fs';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { internalRedirect } from '../../http/request/internal-redirect.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { defineModule, defineScope } from '../../module.js';
import { DECLINED, type Result } from '../../task/codes.js';

const scope = defineScope<{ enabled: boolean }>({
  fields: { enabled: inherit(false) },
  directives: { random_index: { in: In.LOCATION, args: 'flag', set: flag('enabled') } },
});

/** Shows some file of a folder, another each time. nginx: ngx_http_random_index_module. */
export const randomIndexModule = defineModule({
  name: 'random_index',
  location: scope,
  phases: { content: (conf) => (conf.enabled ? showRandomFile : undefined) },
});

// nginx: ngx_http_random_index_handler.
function showRandomFile(r: Request): Result {
  if (r.uri.charCodeAt(r.uri.length - 1) !== 47) {
    return DECLINED;
  }
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD | METHOD.POST)) === 0) {
    return DECLINED;
  }
  const path = mapPath(r);
  if (path === undefined) {
    return noPath(r);
  }
  const folder = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  let names: string[] | undefined;
  try {
    names = filesIn(r, folder, readdirSync(fsPath(folder), { encoding: 'latin1', withFileTypes: true }));
  } catch (error) {
    const errno = -((error as NodeJS.ErrnoException).errno ?? -ENOENT);
    const status = errno === ENOENT || errno === ENOTDIR || errno === ENAMETOOLONG ? 404 : errno === EACCES ? 403 : 500;
    r.log(status === 500 ? CRIT : ERROR, `opendir() "${folder}" failed (${errnoText(errno)})`);
    return status;
  }
  if (names === undefined) {
    return 500;
  }
  if (names.length === 0) {
    return DECLINED;
  }
  return internalRedirect(r, r.uri + names[Math.floor(Math.random() * names.length)]!, r.args, r.uriUps);
}

/** The names of the files that are not hidden, links to files among them. undefined when one could not be looked at. */
function filesIn(r: Request, folder: string, entries: readonly Dirent[]): string[] | undefined {
  const names: string[] = [];
  for (const entry of entries) {
    const { name } = entry;
    if (name.startsWith('.')) {
      continue;
    }
    if (entry.isFile()) {
      names.push(name);
    } else if (entry.isSymbolicLink()) {
      const file = `${folder}/${name}`;
      try {
        if (statSync(fsPath(file), { throwIfNoEntry: false })?.isFile()) {
          names.push(name);
        }
      } catch (error) {
        r.log(CRIT, `stat() "${file}" failed (${errnoText(error)})`);
        return undefined;
      }
    }
  }
  return names;
}
