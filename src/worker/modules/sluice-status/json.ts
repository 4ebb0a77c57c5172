import { nativeText } from '../../../shared/text/native-text.js';
import type { Totals } from '../../../shared/zone/counters.js';
import { reportObject } from '../../acme/report-object.js';
import { storeObject } from '../../status/store.js';
import { SERVER_VERSION } from '../../version.js';
import type { Report, UpstreamReport } from './report.js';

/** The report as a JSON document. */
export function jsonText({ totals, workers, zones, upstreams, orders, store }: Report): string {
  const document = {
    version: SERVER_VERSION,
    ...counted(totals),
    workers: workers.map((worker) => ({
      pid: worker.worker,
      ...counted(worker),
      event_loop_delay: { max: worker.delayMax / 1e6, p99: worker.delay99 / 1e6 },
    })),
    zones: Object.fromEntries(
      zones.map(({ name, kind, size, used, entries, evictions, rejections }) => [
        name,
        { kind, size, used, entries, evictions, rejections },
      ]),
    ),
    upstreams: Object.fromEntries(upstreams.map((upstream) => [upstream.name, upstreamObject(upstream)])),
    certificates: orders.map(reportObject),
    ...(store === undefined ? {} : { shared_store: storeObject(store) }),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function upstreamObject({ zone, peers }: UpstreamReport): object {
  return {
    ...(zone === undefined ? {} : { zone: nativeText(zone) }),
    peers: peers.map(({ checks, ...peer }) => ({
      ...peer,
      address: nativeText(peer.address),
      server: nativeText(peer.server),
      ...(checks === undefined
        ? {}
        : { health_checks: { checks: checks.checks, fails: checks.fails, unhealthy: checks.unhealthy, last_passed: checks.lastPassed } }),
    })),
  };
}

function counted({ accepts, handled, requests, active, reading, writing, waiting, abandoned, linesLost, ...classes }: Totals): object {
  return {
    connections: { accepted: accepts, handled, dropped: accepts - handled, active, reading, writing, waiting },
    requests: {
      total: requests,
      responses: { '1xx': classes.c1xx, '2xx': classes.c2xx, '3xx': classes.c3xx, '4xx': classes.c4xx, '5xx': classes.c5xx },
      abandoned,
    },
    log_lines_lost: linesLost,
  };
}
