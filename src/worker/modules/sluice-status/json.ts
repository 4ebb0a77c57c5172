import type { Totals } from '../../../shared/zone/counters.js';
import { SERVER_VERSION } from '../../version.js';
import type { Report } from './report.js';

/** The report as a JSON document. */
export function jsonText({ totals, workers, zones }: Report): string {
  const document = {
    version: SERVER_VERSION,
    ...counted(totals),
    workers: workers.map((worker) => ({ pid: worker.worker, ...counted(worker) })),
    zones: Object.fromEntries(
      zones.map(({ name, kind, size, used, entries, evictions, rejections }) => [
        name,
        { kind, size, used, entries, evictions, rejections },
      ]),
    ),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function counted({ accepts, handled, requests, active, reading, writing, waiting, abandoned, ...classes }: Totals): object {
  return {
    connections: { accepted: accepts, handled, dropped: accepts - handled, active, reading, writing, waiting },
    requests: {
      total: requests,
      responses: { '1xx': classes.c1xx, '2xx': classes.c2xx, '3xx': classes.c3xx, '4xx': classes.c4xx, '5xx': classes.c5xx },
      abandoned,
    },
  };
}
