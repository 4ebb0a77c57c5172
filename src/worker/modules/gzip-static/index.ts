import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { oneOf } from '../../../shared/config/slots.js';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { closeFile, openFile } from '../../http/files/open-file.js';
import { respondFile } from '../../http/files/respond-file.js';
import { gzipSlot, mayCompressFile, takes } from '../../http/headers/accept-gzip.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { defineModule, defineScope } from '../../module.js';
import { DECLINED, type Result } from '../../task/codes.js';

type Mode = 'off' | 'on' | 'always';

interface Settings {
  gzip: Mode;
  brotli: Mode;
  zstd: Mode;
}

/** A coding that files beside others have. */
interface Form {
  readonly coding: string;
  readonly suffix: string;
  /** The rules of gzip about proxies and versions of HTTP hold for it. */
  readonly ruled: boolean;
}

/** The best first. */
const FORMS: readonly (readonly [keyof Settings, Form])[] = [
  ['zstd', { coding: 'zstd', suffix: '.zst', ruled: false }],
  ['brotli', { coding: 'br', suffix: '.br', ruled: true }],
  ['gzip', { coding: 'gzip', suffix: '.gz', ruled: true }],
];

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const MODES = { off: 'off', on: 'on', always: 'always' } as const;

const scope = defineScope<Settings>({
  fields: { gzip: inherit<Mode>('off'), brotli: inherit<Mode>('off'), zstd: inherit<Mode>('off') },
  directives: {
    gzip_static: { in: ANYWHERE, args: 1, set: oneOf('gzip', MODES) },
    zstd_static: { in: ANYWHERE, args: 1, set: oneOf('zstd', MODES) },
    brotli_static: { in: ANYWHERE, args: 1, set: oneOf('brotli', MODES) },
  },
});

/** Sends the compressed file that stands beside the requested one, if there is one. nginx: ngx_http_gzip_static_handler. */
function sendCompressed(r: Request, mode: Mode, { coding, suffix, ruled }: Form): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0 || r.uri.endsWith('/')) {
    return DECLINED;
  }
  const rules = r.location.conf(gzipSlot);
  const accepted = mode === 'always' || (ruled ? mayCompressFile(r, rules, coding) : takes(r, coding));
  if (!accepted && !rules.vary) {
    return DECLINED;
  }
  const mapped = mapPath(r);
  if (mapped === undefined) {
    return noPath(r);
  }
  const path = mapped + suffix;
  const info = openFile(r, path);
  if (info.errno !== 0) {
    const { errno } = info;
    if (errno !== ENOENT && errno !== ENOTDIR && errno !== ENAMETOOLONG) {
      const level = errno === EACCES || errno === EMLINK || errno === ELOOP ? ERROR : CRIT;
      r.log(level, `${info.failed} "${path}" failed (${errnoText(errno)})`);
    }
    return DECLINED;
  }
  // Caches must know of the other form even when this client gets the plain one.
  if (mode === 'on') {
    r.gzipVary = true;
  }
  if (info.isDirectory) {
    return DECLINED;
  }
  if (!accepted) {
    closeFile(info);
    return DECLINED;
  }
  if (!info.isFile) {
    r.log(CRIT, `"${path}" is not a regular file`);
    return 404;
  }
  return respondFile(r, path, info, coding);
}

/** Sends `file.zst`, `file.br` or `file.gz` in place of `file`. nginx: ngx_http_gzip_static_module. */
export const gzipStaticModule = defineModule({
  name: 'gzip_static',
  location: scope,
  phases: {
    content(conf) {
      const used = FORMS.filter(([name]) => conf[name] !== 'off').map(([name, form]) => [conf[name], form] as const);
      if (used.length === 0) {
        return undefined;
      }
      return (r) => {
        let code: Result = DECLINED;
        for (let i = 0; i < used.length && code === DECLINED; i++) {
          const [mode, form] = used[i]!;
          code = sendCompressed(r, mode, form);
        }
        return code;
      };
    },
  },
});
