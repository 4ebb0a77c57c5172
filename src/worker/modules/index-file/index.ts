import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { ALERT, CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { constantValue } from '../../../shared/value/complex.js';
import { EACCES, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { testFile, whyMissing } from '../../http/files/open-file.js';
import { documentSlot } from '../../http/request/document-settings.js';
import { noteReasonText } from '../../http/request/error-reason.js';
import { internalRedirect } from '../../http/request/internal-redirect.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { climbs, ups } from '../../http/syntax/ups.js';
import { defineModule, defineScope } from '../../module.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';

type Names = readonly ComplexValue<Request>[];

const scope = defineScope<{ names: Names }>({
  fields: { names: inherit<Names>([constantValue('index.html')]) },
  directives: {
    index: {
      in: In.HTTP | In.SERVER | In.LOCATION,
      args: { min: 1 },
      set(conf, node, ctx) {
        for (const [arg, name] of node.args.entries()) {
          if (name.startsWith('/') && arg < node.args.length - 1) {
            ctx.warn('only the last index in "index" directive should be absolute', { arg });
          }
          if (name === '') {
            ctx.fail(`index "" in "index" directive is invalid`, { arg });
          }
          conf.names = append(conf.names, ctx.complex(name));
        }
      },
    },
  },
});

/** Shows a file of a folder when the folder itself is asked for. nginx: ngx_http_index_module. */
export const indexFileModule = defineModule({
  name: 'index_file',
  location: scope,
  phases: { content: (conf) => findIndex(conf.names) },
});

// nginx: ngx_http_index_handler.
function findIndex(names: Names): PhaseHandler {
  return (r) => {
    if (r.uri.charCodeAt(r.uri.length - 1) !== 47) {
      return DECLINED;
    }
    if ((r.methodBit & (METHOD.GET | METHOD.HEAD | METHOD.POST)) === 0) {
      return DECLINED;
    }
    let folder: string | undefined;
    let folderTested = false;
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!.eval(r);
      const meant = ups(names[i]!.text);
      if (name.charCodeAt(0) === 47) {
        return internalRedirect(r, name, r.args, meant);
      }
      folder ??= mapPath(r);
      if (folder === undefined) {
        return noPath(r);
      }
      if (climbs(name, meant)) {
        r.log(ERROR, `index "${name}" leads out of "${folder}"`);
        continue;
      }
      const path = folder + name;
      const info = testFile(r, path);
      if (r.trace !== null) {
        const found = info.errno === 0;
        r.trace.add(
          r,
          'file',
          `index: ${path} ${found ? 'is there' : 'is not there'}`,
          { in: r.location, directive: 'index' },
          { path, found },
        );
      }
      if (info.errno === 0) {
        return internalRedirect(r, r.uri + name, r.args, r.uriUps + meant);
      }
      // Below the folder, only a name with folders of its own can run into a file.
      const errno = info.errno === ENOENT && name.includes('/') ? whyMissing(path) : info.errno;
      if (errno === ELOOP || errno === EMLINK) {
        return 403;
      }
      if (errno === ENOTDIR || errno === ENAMETOOLONG || errno === EACCES) {
        return refuse(r, path, errno);
      }
      if (!folderTested) {
        const code = testFolder(r, folder, path);
        if (code !== OK) {
          return code;
        }
        folderTested = true;
      }
      if (errno !== ENOENT) {
        r.log(CRIT, `${info.failed} "${path}" failed (${errnoText(errno)})`);
        return 500;
      }
    }
    return DECLINED;
  };
}

/** Makes sure that the folder is there, once a first file in it was not found. nginx: ngx_http_index_test_dir. */
function testFolder(r: Request, folder: string, path: string): Result {
  const name = folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
  const info = testFile(r, name);
  if (info.errno === 0) {
    if (info.isDirectory) {
      return OK;
    }
    // The usual reason for a missing file below something that is no folder.
    if (whyMissing(path) === ENOTDIR) {
      return refuse(r, path, ENOTDIR);
    }
    r.log(ALERT, `"${name}" is not a directory`);
    return 500;
  }
  if (info.errno === ELOOP || info.errno === EMLINK) {
    return 403;
  }
  if (info.errno === ENOENT) {
    // Finds the folder missing, or a file in its way.
    return refuse(r, path, whyMissing(path));
  }
  // The first file was looked for without this error, hence the folder can be searched.
  if (info.errno === EACCES) {
    return OK;
  }
  r.log(CRIT, `${info.failed} "${name}" failed (${errnoText(info.errno)})`);
  return 500;
}

// nginx: ngx_http_index_error.
function refuse(r: Request, path: string, errno: number): Result {
  if (errno === EACCES) {
    r.log(ERROR, `"${path}" is forbidden (${errnoText(errno)})`);
    return 403;
  }
  const line = `"${path}" is not found (${errnoText(errno)})`;
  if (r.location.conf(documentSlot).logNotFound) {
    r.log(ERROR, line);
  } else if (r.http.explains) {
    noteReasonText(r, line);
  }
  return 404;
}
