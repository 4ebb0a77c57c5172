import { acceptsCoding } from '../../http/headers/accept-gzip.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { discardBody, readBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { forOperators, OperatorAccess } from '../../status/access.js';
import { apiPath, queryValue } from '../../status/api-path.js';
import { historyOf } from '../../status/history.js';
import { pastOf, seriesOf } from '../../status/history-series.js';
import type { StatusSource } from '../../status/source.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { makeChange } from './changes.js';
import { ConfigurationPages } from './configuration.js';
import type { Outline } from './outline.js';
import { dashboardPage } from './page.js';
import { stateText } from './state.js';

/** What the page sends with each change: a page of another site cannot, without asking first. */
const MARK = 'x-sluice-dashboard';
const LONGEST_RANGE = 24 * 3600;

/** What a location with `dashboard` offers. */
export interface DashboardOptions {
  readonly write: boolean;
  /** The outline of the configuration, where it is shown. */
  readonly outline: Outline | undefined;
}

/** Builds the handler of a location with `dashboard`. */
export function serveDashboard({ write, outline }: DashboardOptions, source: StatusSource, location: LocationRuntime): PhaseHandler {
  const configuration = outline === undefined ? undefined : new ConfigurationPages(source, outline, sendJson);
  const access = new OperatorAccess('the dashboard', location.server);
  // Read while the process may read everything.
  const page = dashboardPage();
  const reads = (r: Request): Result => {
    const broken = discardBody(r);
    if (broken !== 0) {
      return broken;
    }
    const path = apiPath(r);
    if (path === '') {
      return r.uri.endsWith('/') ? sendPage(r, page) : toFolder(r);
    }
    if (path === 'state') {
      const giveUp = source.env.zones.counters.settleMeters(source.env.workers, () =>
        r.resume(sendJson(r, stateText(source, { write, config: outline !== undefined }))),
      );
      r.onFinish(giveUp);
      return AGAIN;
    }
    if (path === 'history') {
      return sendJson(r, historyText(r));
    }
    return configuration?.answer(r, path) ?? 404;
  };
  return (r) => {
    const reading = (r.methodBit & (METHOD.GET | METHOD.HEAD)) !== 0;
    if (access.test(r, !reading) !== undefined) {
      return 403;
    }
    if (reading) {
      return reads(r);
    }
    if (r.methodBit !== METHOD.POST || apiPath(r) !== 'change') {
      return 405;
    }
    if (!write || r.header(MARK) === undefined) {
      return 403;
    }
    readBody(r, () => makeChange(r, source, (text) => r.resume(sendJson(r, text))));
    return AGAIN;
  };
}

function historyText(r: Request): string {
  const { history } = historyOf(r.http);
  const asked = Number(queryValue(r.args, 'range'));
  const now = Math.floor(Date.now() / 1000);
  const range = asked > 0 && asked <= LONGEST_RANGE ? asked : 3600;
  return JSON.stringify(history === undefined ? null : { ...seriesOf(history, range, now), past: pastOf(history, range, now) });
}

function toFolder(r: Request): Result {
  r.out.location = `${r.uri}/`;
  return 301;
}

function sendJson(r: Request, text: string): Result {
  forOperators(r);
  r.out.contentType = 'application/json';
  r.out.add('Cache-Control', 'no-store');
  return respondBuffer(r, 200, Buffer.from(text));
}

function sendPage(r: Request, page: ReturnType<typeof dashboardPage>): Result {
  forOperators(r, page.policy);
  r.out.add('Cache-Control', 'no-cache');
  r.out.contentType = 'text/html; charset=utf-8';
  r.out.add('Vary', 'Accept-Encoding');
  if (!acceptsCoding(r.header('accept-encoding') ?? '', 'gzip')) {
    return respondBuffer(r, 200, page.bytes);
  }
  r.out.contentEncoding = 'gzip';
  return respondBuffer(r, 200, page.zipped);
}
