import { In } from '../../../shared/config/context.js';
import type { WorkerEnv } from '../../env.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { watchLoopDelay } from '../../status/loop-delay.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { acceptedFormat, MEDIA_TYPES } from './format.js';
import { jsonText } from './json.js';
import { metricsText } from './metrics.js';
import { takeReport } from './report.js';

const scope = defineScope({
  fields: {},
  directives: {
    // Ours. Syntax: sluice_status;
    sluice_status: { in: In.LOCATION, args: 0, set: (_conf, _node, ctx) => claimContent(ctx, 'sluice_status') },
  },
});

function show(r: Request, env: WorkerEnv): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  const broken = discardBody(r);
  if (broken !== 0) {
    return broken;
  }
  const giveUp = env.zones.counters.settleMeters(env.workers, () => {
    const source = { http: r.http, env };
    const format = acceptedFormat(r.args, r.header('accept') ?? '');
    r.out.contentType = MEDIA_TYPES[format];
    r.out.add('Cache-Control', 'no-store');
    const text = format === 'json' ? jsonText(takeReport(source)) : metricsText(source, format === 'openmetrics');
    r.resume(respondBuffer(r, 200, Buffer.from(text)));
  });
  r.onFinish(giveUp);
  return AGAIN;
}

/** Shows connections, requests and shared zones, as JSON for people and programs or as metrics for Prometheus. */
export const sluiceStatusModule = defineModule({
  name: 'sluice_status',
  location: scope,
  handler(_conf, env, location) {
    watchLoopDelay(location.server.http);
    return (r) => show(r, env);
  },
});
