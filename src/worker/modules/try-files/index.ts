import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { CRIT, DEBUG, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { testFile } from '../../http/files/open-file.js';
import { documentSlot } from '../../http/request/document-settings.js';
import { noteReasonText } from '../../http/request/error-reason.js';
import { extension, internalRedirect, namedLocation, splitArgs } from '../../http/request/internal-redirect.js';
import { noPath, rootPath } from '../../http/request/map-path.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { climbs, ups } from '../../http/syntax/ups.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { asStatus, DECLINED, type Result } from '../../task/codes.js';

/** One candidate. */
interface Candidate {
  readonly name: ComplexValue<Request>;
  /** The candidate ended in a slash, which is cut off: only a folder will do. */
  readonly folder: boolean;
}

interface Attempts {
  readonly candidates: readonly Candidate[];
  /** What happens when there is none of them: an URI, `@name`, or a status. */
  readonly fallback: ComplexValue<Request>;
  readonly status: number | undefined;
}

const scope = defineScope<{ attempts: Attempts | undefined }>({
  fields: { attempts: own<Attempts | undefined>(undefined) },
  directives: {
    try_files: {
      in: In.SERVER | In.LOCATION,
      args: { min: 2 },
      set(conf, _node, ctx) {
        if (conf.attempts !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.attempts = parse(ctx);
      },
    },
  },
});

// nginx: ngx_http_try_files.
function parse(ctx: Context): Attempts {
  const args = ctx.node.args;
  const last = args.length - 1;
  const candidates = args.slice(0, -1).map((name) => {
    const folder = name.endsWith('/');
    return { name: ctx.complex(folder ? name.slice(0, -1) : name), folder };
  });
  const word = args[last]!;
  let status: number | undefined;
  if (word.startsWith('=')) {
    status = /^\d+$/.test(word.slice(1)) ? Number(word.slice(1)) : 1000;
    if (status > 999) {
      ctx.fail(`invalid code "${word}"`, { arg: last, hint: 'a status has three digits: `=404`' });
    }
  }
  return { candidates, fallback: ctx.complex(word), status };
}

/** Serves the first file or folder of a list that exists, or something else instead. nginx: ngx_http_try_files_module. */
export const tryFilesModule = defineModule({
  name: 'try_files',
  location: scope,
  phases: { precontent: ({ attempts }) => (attempts === undefined ? undefined : tryFiles(attempts)) },
});

// nginx: ngx_http_try_files_handler.
function tryFiles({ candidates, fallback, status }: Attempts): PhaseHandler {
  return (r) => {
    const { debugging } = r;
    if (debugging) {
      r.log(DEBUG, 'try files handler');
    }
    const root = rootPath(r);
    if (root === undefined) {
      return noPath(r);
    }
    const alias = r.location.conf(documentSlot).alias;
    for (let i = 0; i < candidates.length; i++) {
      const { name, folder } = candidates[i]!;
      const file = nameIn(r, name, alias);
      const path = root + file;
      const meant = upsMeant(r, name, file);
      if (climbs(file, meant)) {
        r.log(ERROR, `"${file}" leads out of "${root}"`);
        continue;
      }
      if (debugging) {
        r.log(DEBUG, `trying to use ${folder ? 'dir' : 'file'}: "${file}" "${path}"`);
      }
      const info = testFile(r, path);
      if (r.trace !== null) {
        const found = info.errno === 0 && info.isDirectory === folder;
        const what = folder ? 'folder' : 'file';
        const text = `try_files: ${folder && !path.endsWith('/') ? `${path}/` : path} ${found ? 'is there' : info.errno === 0 ? `is no ${what}` : 'is not there'}`;
        r.trace.add(r, 'file', text, { in: r.location, directive: 'try_files' }, { path, found });
      }
      if (info.errno !== 0) {
        const { errno } = info;
        if (errno !== ENOENT && errno !== ENOTDIR && errno !== ENAMETOOLONG) {
          r.log(CRIT, `${info.failed} "${path}" failed (${errnoText(errno)})`);
        }
        continue;
      }
      if (info.isDirectory !== folder) {
        continue;
      }
      if (alias === 0) {
        r.uri = file;
      } else if (alias !== -1) {
        r.uri = r.uri.slice(0, alias) + file;
      } else if (!folder) {
        r.uri = file;
        r.addUriToAlias = true;
      }
      if (alias !== -1 || !folder) {
        r.uriUps = meant;
      }
      r.exten = extension(r.uri);
      return DECLINED;
    }
    if (status !== undefined && r.http.explains) {
      noteReasonText(r, `try_files found none of ${candidates.map(({ name }) => `"${root}${nameIn(r, name, alias)}"`).join(', ')}`);
    }
    if (r.trace !== null) {
      const text = `try_files: nothing is there, so ${status === undefined ? `on to ${fallback.text}` : `it answers ${status}`}`;
      r.trace.add(r, 'file', text, { in: r.location, directive: 'try_files' }, { status });
    }
    if (status !== undefined) {
      return asStatus(status);
    }
    const target = nameIn(r, fallback, alias);
    return fallBack(r, target, upsMeant(r, fallback, target));
  };
}

/** A name with its variables; the part of the URI that an alias stands for is cut off, if a variable has it in front. */
function nameIn(r: Request, name: ComplexValue<Request>, alias: number): string {
  if (name.constant !== undefined) {
    return name.constant;
  }
  const text = name.eval(r);
  return alias > 0 && text.startsWith(r.uri.slice(0, alias)) ? text.slice(alias) : text;
}

/** How many `..` of a name the configuration means: those of its text, or of the URI if that is what the text stands for. */
const upsMeant = (r: Request, name: ComplexValue<Request>, file: string): number => (file === r.uri ? r.uriUps : ups(name.text));

function fallBack(r: Request, target: string, meant: number): Result {
  if (r.debugging) {
    r.log(DEBUG, `trying to use file: "${target}" "${rootPath(r)}${target}"`);
  }
  if (target.startsWith('@')) {
    return namedLocation(r, target);
  }
  const { uri, args } = splitArgs(target);
  return internalRedirect(r, uri, args, meant);
}
