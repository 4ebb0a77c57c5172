import { AGAIN } from '../../client/codes.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { answerApi, notFound } from '../../status/api-answer.js';
import { apiPath, queryValue } from '../../status/api-path.js';
import type { Answer } from '../../status/api-question.js';
import { utf8 } from '../../status/source.js';

const ALLOWED = METHOD.GET | METHOD.HEAD | METHOD.POST | METHOD.PATCH | METHOD.DELETE | METHOD.OPTIONS;

const REFERENCE = 'https://nginx.org/en/docs/http/ngx_http_api_module.html';

/** Builds the handler of a location with `api`. */
export function answerRequest(write: boolean, env: WorkerEnv, location: LocationRuntime): PhaseHandler {
  const answer = (r: Request): void => {
    const giveUp = env.zones.counters.settle(env.workers, () => {
      const question = {
        method: r.methodBit === METHOD.HEAD ? 'GET' : r.method,
        path: utf8(apiPath(r)),
        fields: queryValue(r.args, 'fields'),
        key: queryValue(r.args, 'key'),
        write,
        body: r.body?.whole().toString() ?? '',
      };
      const source = { http: location.server.http, env, address: r.connection.localAddress };
      send(r, answerApi(source, question) ?? notFound());
    });
    r.onFinish(giveUp);
  };
  return (r) => {
    if ((r.methodBit & ALLOWED) === 0) {
      return 405;
    }
    readBody(r, answer);
    return AGAIN;
  };
}

function send(r: Request, { status, body }: Answer): void {
  r.out.add('Cache-Control', 'no-store');
  if (body === undefined) {
    r.resume(respondBuffer(r, status, Buffer.alloc(0)));
    return;
  }
  const object = status >= 400 ? { ...(body as object), request_id: r.http.variables.named(r, 'request_id'), href: REFERENCE } : body;
  r.out.contentType = 'application/json';
  r.resume(respondBuffer(r, status, Buffer.from(JSON.stringify(object))));
}
