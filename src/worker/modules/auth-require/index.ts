import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { ERROR } from '../../../shared/log/level.js';
import { parseRequirement, type Requirement, unmet } from '../../http/headers/requirement.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { asStatus, OK, type Result } from '../../task/codes.js';

interface Settings {
  requirements: readonly Requirement[];
}

const scope = defineScope<Settings>({
  fields: { requirements: inherit<readonly Requirement[]>([]) },
  directives: {
    // Syntax: auth_require $value ... [error=4xx | 5xx];
    auth_require: {
      in: In.HTTP | In.SERVER | In.LOCATION | In.LIMIT_EXCEPT,
      args: { min: 1 },
      set(conf, node, ctx) {
        conf.requirements = append(conf.requirements, parseRequirement(node, ctx, 403, /^[45]\d\d$/));
      },
    },
  },
});

function check(r: Request, requirements: readonly Requirement[]): Result {
  const no = unmet(r, requirements);
  const where = { in: r.location, directive: 'auth_require' };
  if (no === undefined) {
    r.trace?.add(r, 'access', 'auth_require: all values are given', where);
    return OK;
  }
  r.log(ERROR, `access forbidden: the rule "auth_require ${no.text}" is not met`);
  r.trace?.add(r, 'access', `auth_require: "${no.text}" is empty or 0`, where, { status: no.status });
  return asStatus(no.status);
}

/** Lets in by the values of variables. NGINX Plus: ngx_http_auth_require_module. */
export const authRequireModule = defineModule({
  name: 'auth_require',
  location: scope,
  phases: { access: ({ requirements }) => (requirements.length === 0 ? undefined : (r) => check(r, requirements)) },
});
