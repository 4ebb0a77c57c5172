import type { ConfigContext } from '../../shared/config/define.js';
import { parseTime } from '../../shared/config/language/units.js';
import type { Subject } from '../../shared/value/subject.js';
import type { CertificateCache } from './settings.js';

/** Reads a `*_certificate_cache` line; null for `off`. nginx: ngx_http_ssl_certificate_cache. */
export function readCertificateCache<R extends Subject>(ctx: ConfigContext<R>): CertificateCache | null {
  let max = 0;
  let inactive = 10;
  let valid = 60;
  let off = false;
  for (const [i, argument] of ctx.node.args.entries()) {
    const bad = (): never => ctx.fail(`invalid parameter "${argument}"`, { arg: i });
    if (argument.startsWith('max=')) {
      max = /^\d+$/.test(argument.slice(4)) ? Number(argument.slice(4)) : 0;
      if (max === 0) {
        bad();
      }
    } else if (argument.startsWith('inactive=')) {
      inactive = parseTime(argument.slice(9), 's') ?? bad();
    } else if (argument.startsWith('valid=')) {
      valid = parseTime(argument.slice(6), 's') ?? bad();
    } else if (argument === 'off') {
      off = true;
    } else {
      bad();
    }
  }
  if (!off && max === 0) {
    ctx.fail(`"${ctx.node.name}" must have the "max" parameter`);
  }
  return off ? null : { max, inactive, valid };
}
