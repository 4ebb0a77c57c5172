import { ERROR, type Level } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import { EMPTY } from '../../bytes/empty.js';
import { FetchExchange } from '../../js/fetch-exchange.js';
import { FetchHeaders } from '../../js/fetch-headers.js';
import type { FetchPlace } from '../../js/fetch-settings.js';
import { network } from '../../net/engine/network.js';
import { ProviderFailure } from './failure.js';

/** What a request to a provider consists of, as the Fetch standard has it. */
export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** A provider's longest answer, in bytes; one in chunks may be ten times as long. */
const MAX_ANSWER = 256 * 1024;
const OPTIONS = { bufferSize: 32 * 1024, maxResponse: MAX_ANSWER, verify: true, proxy: undefined, keepalive: false };
/** How long (milliseconds) an answer may take as a whole. */
const LONGEST = 30_000;
/** Statuses whose answers have no body. */
const WITHOUT_BODY = new Set([204, 205, 304]);
/** From here on, a status says that the provider has trouble. */
const TROUBLE = 500;

/** A `fetch` over this server's own client for HTTP. An answer that says that there is trouble fails with {@link ProviderFailure}, too. */
export function providerFetch(place: FetchPlace, log: (level: Level, message: string) => void): ProviderFetch {
  return (url, { method, headers, body }) =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const failed = (error: Error): void => {
        clearTimeout(timer);
        reject(new ProviderFailure('unreachable', `${method} ${url.replace(/\?.*/s, '')}: ${error.message}`));
      };
      if (network.standIn !== undefined) {
        failed(new Error('nothing is asked while requests are rehearsed'));
        return;
      }
      const list = new FetchHeaders();
      for (const [name, value] of Object.entries(headers)) {
        list.append(name, value);
      }
      const bytes = body === undefined || body === null ? EMPTY : Buffer.from(String(body));
      try {
        const exchange = new FetchExchange(place, { url, method, headers: list }, bytes, OPTIONS, {
          done({ status, headers: answered, body: answer }) {
            clearTimeout(timer);
            if (status >= TROUBLE || status < 200) {
              failed(new Error(`the answer has status ${status}`));
              return;
            }
            const entries: [string, string][] = [...answered].map(([name, value]) => [name, value]);
            resolve(new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(answer), { status, headers: entries }));
          },
          failed,
          log,
        });
        timer = setTimer(() => {
          exchange.cancel();
          failed(new Error('the answer takes too long'));
        }, LONGEST);
        exchange.start();
      } catch (error) {
        log(ERROR, `oidc: "${url}" cannot be asked: ${(error as Error).message}`);
        failed(error as Error);
      }
    });
}
