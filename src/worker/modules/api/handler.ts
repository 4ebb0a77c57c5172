import { nativeText } from '../../../shared/text/native-text.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { forOperators, logChange, OperatorAccess, type Refused } from '../../status/access.js';
import { answerApi, isCounted, notFound } from '../../status/api-answer.js';
import { apiPath, queryValue } from '../../status/api-path.js';
import { type Answer, apiError, refusalOf } from '../../status/api-question.js';
import { answerPurge, isPurge } from '../../status/purges.js';
import { enter, leave } from '../../task/at-work.js';
import { AGAIN } from '../../task/codes.js';

const ALLOWED = METHOD.GET | METHOD.HEAD | METHOD.POST | METHOD.PATCH | METHOD.DELETE | METHOD.OPTIONS;

/** Methods that change nothing. */
const READS = METHOD.GET | METHOD.HEAD | METHOD.OPTIONS;

/** What a body may have, in bytes, whatever `client_max_body_size` lets in. */
const LONGEST_BODY = 16 * 1024 * 1024;

const REFERENCE = 'https://nginx.org/en/docs/http/ngx_http_api_module.html';

/** Builds the handler of a location with `api`. */
export function answerRequest(write: boolean, env: WorkerEnv, location: LocationRuntime): PhaseHandler {
  const access = new OperatorAccess('the API', location.server);
  const answer = (r: Request): void => {
    if ((r.body?.length ?? 0) > LONGEST_BODY) {
      send(r, apiError(413, 'RequestTooLarge', 'the body is too large'));
      return;
    }
    const question = {
      method: r.methodBit === METHOD.HEAD ? 'GET' : r.method,
      path: nativeText(apiPath(r)),
      fields: queryValue(r.args, 'fields'),
      key: queryValue(r.args, 'key'),
      write,
      body: r.body?.whole().toString() ?? '',
    };
    const source = { http: location.server.http, env, address: r.connection.localAddress };
    const reply = (answered: Answer): void => {
      if (answered.did !== undefined) {
        logChange(r, `the API ${answered.did}`);
      }
      if (!r.finished) {
        send(r, answered);
      }
    };
    const tell = (): void => reply(answerApi(source, question) ?? notFound());
    if (isPurge(question)) {
      const refusal = refusalOf(() => {
        answerPurge(source, question, (answered) => {
          const before = enter(r);
          reply(answered);
          leave(before);
        });
      });
      if (refusal !== undefined) {
        reply(refusal);
      }
      return;
    }
    if (!isCounted(question)) {
      tell();
      return;
    }
    const giveUp = env.zones.counters.settleMeters(env.workers, tell);
    r.onFinish(giveUp);
  };
  return (r) => {
    if ((r.methodBit & ALLOWED) === 0) {
      return 405;
    }
    const refused = access.test(r, (r.methodBit & READS) === 0);
    readBody(r, refused === undefined ? answer : () => send(r, refusal(refused)));
    return AGAIN;
  };
}

const refusal = (why: Exclude<Refused, undefined>): Answer =>
  apiError(403, why === 'unknown host' ? 'UnknownHost' : 'CrossSiteRequest', why === 'unknown host' ? `${why} in the Host header` : why);

function send(r: Request, { status, body }: Answer): void {
  r.out.add('Cache-Control', 'no-store');
  forOperators(r);
  if (body === undefined) {
    r.resume(respondBuffer(r, status, Buffer.alloc(0)));
    return;
  }
  const object = status >= 400 ? { ...(body as object), request_id: r.http.variables.named(r, 'request_id'), href: REFERENCE } : body;
  r.out.contentType = 'application/json';
  r.resume(respondBuffer(r, status, Buffer.from(JSON.stringify(object))));
}
