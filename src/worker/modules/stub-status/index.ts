import { In } from '../../../shared/config/context.js';
import type { Counters } from '../../../shared/zone/counters.js';
import type { WorkerEnv } from '../../env.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { AGAIN, type Result } from '../../task/codes.js';

const scope = defineScope({
  fields: {},
  directives: {
    stub_status: { in: In.SERVER | In.LOCATION, args: [0, 1], set: (_conf, _node, ctx) => claimContent(ctx, 'stub_status') },
  },
});

// nginx: ngx_http_stub_status_handler.
function show(r: Request, env: WorkerEnv): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  const broken = discardBody(r);
  if (broken !== 0) {
    return broken;
  }
  const { counters } = env.zones;
  const giveUp = counters.settle(env.workers, () => {
    r.out.contentType = 'text/plain';
    r.resume(respondBuffer(r, 200, Buffer.from(statusText(counters))));
  });
  r.onFinish(giveUp);
  return AGAIN;
}

function statusText(counters: Counters): string {
  const { accepts, handled, requests, active, reading, writing, waiting } = counters.totals();
  return (
    `Active connections: ${active} \nserver accepts handled requests\n ${accepts} ${handled} ${requests} \n` +
    `Reading: ${reading} Writing: ${writing} Waiting: ${waiting} \n`
  );
}

const NAMES = ['active', 'reading', 'writing', 'waiting'] as const;

const variable = (name: (typeof NAMES)[number]) => ({
  name: `connections_${name}`,
  cacheable: false,
  get: (r: Request) => String(r.http.env.zones.counters.current(name)),
});

/** Shows the connection counters of all workers. nginx: ngx_http_stub_status_module. */
export const stubStatusModule = defineModule({
  name: 'stub_status',
  location: scope,
  main: defineScope({ fields: {}, directives: {} }),
  variables: NAMES.map(variable),
  handler: (_conf, env) => (r) => show(r, env),
  installMain(_conf, http, env) {
    if (NAMES.some((name) => http.variables.used(`connections_${name}`))) {
      env.zones.counters.publishAtOnce();
    }
  },
});
