import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { oneOf } from '../../../shared/config/slots.js';
import { SERVICE, serviceKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { type Context, claimContent, defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';

interface HealthSettings {
  endpoint: 'live' | 'ready' | undefined;
}

const ANSWERS = {
  live: Buffer.from('live\n'),
  ready: Buffer.from('ready\n'),
  starting: Buffer.from('starting\n'),
  ending: Buffer.from('ending\n'),
};
const setKind = oneOf<'endpoint', 'live' | 'ready', Request>('endpoint', { live: 'live', ready: 'ready' });

/** Answers probes of orchestrators: whether this server lives, and whether it is to get requests. This is sluice's own. */
export const healthEndpointModule = defineModule({
  name: 'health_endpoint',
  location: defineScope<HealthSettings>({
    fields: { endpoint: own<HealthSettings['endpoint']>(undefined) },
    directives: {
      health_endpoint: {
        in: In.LOCATION,
        args: 1,
        set(conf, node, ctx: Context) {
          claimContent(ctx, 'health_endpoint');
          setKind(conf, node, ctx);
        },
      },
    },
  }),
  handler: ({ endpoint }, env) => {
    if (endpoint === undefined) {
      return undefined;
    }
    return endpoint === 'live' ? (r) => answer(r, 200, ANSWERS.live) : (r) => answerReady(r, env);
  },
});

/** The master notes when every worker accepts, and when it begins to end. */
function answerReady(r: Request, env: WorkerEnv): Result {
  const values = env.zones.counters.meters.read(serviceKind).get('')?.values;
  if (values !== undefined && values[SERVICE.endingAt]! > 0) {
    return answer(r, 503, ANSWERS.ending);
  }
  return values !== undefined && values[SERVICE.readyAt]! > 0 ? answer(r, 200, ANSWERS.ready) : answer(r, 503, ANSWERS.starting);
}

function answer(r: Request, status: number, text: Buffer): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  const broken = discardBody(r);
  if (broken !== OK) {
    return broken;
  }
  r.out.contentType = 'text/plain';
  return respondBuffer(r, status, text);
}
