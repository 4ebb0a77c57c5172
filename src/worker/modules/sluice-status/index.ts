import { In } from '../../../shared/config/context.js';
import type { WorkerEnv } from '../../env.js';
import { AGAIN } from '../../http/request/codes.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { jsonText } from './json.js';
import { PROMETHEUS_TYPE, prometheusText } from './prometheus.js';
import { takeReport } from './report.js';

const scope = defineScope({
  fields: {},
  directives: {
    // Ours. Syntax: sluice_status;
    sluice_status: { in: In.LOCATION, args: 0, set: (_conf, _node, ctx) => claimContent(ctx, 'sluice_status') },
  },
});

/** `format=` in the query decides, else what the client accepts: a scraper of metrics asks for plain text. */
function wantsPrometheus(r: Request): boolean {
  const format = /(?:^|&)format=([^&]*)/.exec(r.args)?.[1];
  if (format !== undefined) {
    return format === 'prometheus';
  }
  const accept = r.header('accept') ?? '';
  return /\btext\/plain\b|\bapplication\/openmetrics-text\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}

function show(r: Request, env: WorkerEnv): number {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  discardBody(r);
  const giveUp = env.zones.counters.settle(env.workers, () => {
    const report = takeReport(r.http, env.zones);
    const prometheus = wantsPrometheus(r);
    r.out.contentType = prometheus ? PROMETHEUS_TYPE : 'application/json';
    r.out.add('Cache-Control', 'no-store');
    r.resume(respondBuffer(r, 200, Buffer.from(prometheus ? prometheusText(report) : jsonText(report))));
  });
  r.onFinish(giveUp);
  return AGAIN;
}

/** Shows connections, requests and shared zones, as JSON for people and programs or as metrics for Prometheus. */
export const sluiceStatusModule = defineModule({
  name: 'sluice_status',
  location: scope,
  handler: (_conf, env) => (r) => show(r, env),
});
