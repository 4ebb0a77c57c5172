import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { CLOSE } from '../../http/request/codes.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { defineModule, defineScope } from '../../module.js';
import { AGAIN, FAILED, OK, type Result } from '../../task/codes.js';
import { passChallenges } from '../../upstream/exchange/intercept.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';

interface Settings {
  /** Undefined: off. */
  uri: string | undefined;
  sets: readonly { readonly slot: number; readonly value: ComplexValue<Request> }[];
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<Settings>({
  fields: { uri: inherit<string | undefined>(undefined), sets: inherit<Settings['sets']>([]) },
  directives: {
    auth_request: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if ('uri' in conf) {
          ctx.reject('is duplicate');
        }
        if (node.args[0] === 'off') {
          Object.assign(conf, { uri: '' });
        } else {
          conf.uri = node.args[0]!;
        }
      },
    },
    auth_request_set: {
      in: ANYWHERE,
      args: 2,
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (!name.startsWith('$')) {
          ctx.fail(`invalid variable name "${name}"`, { arg: 0, hint: `write \`$${name}\`` });
        }
        const defined = ctx.variables.define({ name: name.slice(1), changeable: true, weak: true, get: () => undefined });
        if (!defined && ctx.variables.definition(name.slice(1))?.set === undefined) {
          ctx.fail(`the duplicate "${name.slice(1)}" variable`);
        }
        conf.sets = append(conf.sets, { slot: ctx.variables.slot(name.slice(1)), value: ctx.complex(node.args[1]!) });
      },
    },
  },
});

/** Set once the subrequest was made: the access phase may come back to the handler after a redirect. */
const asked = contextSlot<boolean>();

/** Lets the answer to a subrequest decide. nginx: ngx_http_auth_request_handler. */
function ask(r: Request, conf: Readonly<Settings>): Result {
  if (asked.get(r)) {
    return OK;
  }
  asked.set(r, true);
  const sr = startSubrequest(r, {
    uri: conf.uri as string,
    headerOnly: true,
    trace: 'auth_request',
    done: (subrequest, code) => {
      // An error's page is not made, but its status is what `$status` shows.
      if (code >= 300 && subrequest.out.status === 0) {
        subrequest.out.status = code;
      }
      setVariables(r, subrequest, conf.sets);
      // What has failed has no answer, whatever status stood in its head: the request ends with it.
      r.resume(code === FAILED || code === CLOSE ? code : verdict(r, subrequest, code));
    },
  });
  return sr === undefined ? FAILED : AGAIN;
}

/** The variables are computed where the subrequest's own response is what `$upstream_http_*` and `$sent_http_*` show. */
function setVariables(r: Request, sr: Request, sets: Settings['sets']): void {
  const { variables } = r.http;
  for (const { slot, value } of sets) {
    variables.assign(r, slot, value.eval(sr));
  }
}

function verdict(r: Request, sr: Request, code: Result): Result {
  const status = code >= 300 ? code : sr.out.status;
  if (r.trace !== null) {
    const passes = status >= 200 && status < 300;
    r.trace.add(
      r,
      'access',
      `auth_request answers ${status}: ${passes ? 'let in' : 'refused'}`,
      { in: r.location, directive: 'auth_request' },
      { status },
    );
  }
  if (status === 403) {
    return 403;
  }
  if (status === 401) {
    const u = upstreamOf(sr);
    if (!r.out.takeChallenges(sr.out) && u !== null) {
      passChallenges(u.head, r);
    }
    return 401;
  }
  if (status >= 200 && status < 300) {
    return OK;
  }
  r.log(ERROR, `auth request unexpected status: ${status}`);
  return 500;
}

/** Asks another location whether a request may pass. nginx: ngx_http_auth_request_module. */
export const authRequestModule = defineModule({
  name: 'auth_request',
  location: scope,
  phases: { access: (conf) => (conf.uri === undefined || conf.uri === '' ? undefined : (r) => ask(r, conf)) },
});
