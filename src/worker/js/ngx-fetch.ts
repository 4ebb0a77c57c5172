import { ERROR } from '../../shared/log/level.js';
import { type NetworkStandIn, network } from '../net/engine/network.js';
import { FetchExchange } from './fetch-exchange.js';
import { FetchHeaders } from './fetch-headers.js';
import { describeRequest, type FetchDescription, type FetchInit, FetchResponse } from './fetch-message.js';
import { type FetchScope, readProxy } from './fetch-settings.js';
import { InternalError } from './script-errors.js';
import { currentTask, type TaskOwner } from './task.js';
import { givenInteger } from './text.js';

/** `ngx.fetch`, for which the handler that called it waits. `fallback` is asked where no handler runs. nginx: ngx_qjs_ext_fetch. */
export function scriptFetch(fallback: TaskOwner): (resource?: unknown, init?: unknown) => Promise<Response | FetchResponse> {
  function fetch(resource?: unknown, init?: unknown): Promise<Response | FetchResponse> {
    // What fails later says where it was called.
    const site: { stack?: string } = {};
    Error.captureStackTrace(site, fetch);
    const owner = currentTask()?.owner ?? fallback;
    if (owner.fetchScope === undefined) {
      // A thread of `js_isolation` has no settings of a location.
      return globalThis.fetch(resource as string, init as RequestInit);
    }
    try {
      return start(owner, owner.fetchScope, resource, init, (error) => located(error, site));
    } catch (error) {
      return Promise.reject(located(error as Error, site));
    }
  }
  return fetch;
}

function located(error: Error, { stack = '' }: { readonly stack?: string }): Error {
  const frames = stack.slice(stack.indexOf('\n'));
  error.stack = `${error.name}: ${error.message}${frames}`;
  return error;
}

/** A size that a script gives. @throws TypeError for what is no number, Error for one below 0. */
function sizeOr(value: unknown, other: number): number {
  if (value === undefined) {
    return other;
  }
  const size = givenInteger(value);
  if (size < 0) {
    throw new Error('memory error');
  }
  return size;
}

function start(
  owner: TaskOwner,
  scope: FetchScope,
  resource: unknown,
  given: unknown,
  located: (error: Error) => Error,
): Promise<FetchResponse> {
  const request = describeRequest(resource, given);
  const { standIn } = network;
  if (standIn !== undefined) {
    return askStandIn(standIn, request);
  }
  const init: FetchInit = typeof given === 'object' && given !== null ? given : {};
  const { settings } = scope;
  const dynamic = settings.fetchProxy !== undefined && settings.fetchProxy.constant === undefined;
  const proxyUrl = settings.fetchProxy?.constant ?? (owner.subject === undefined ? '' : (settings.fetchProxy?.eval(owner.subject) ?? ''));
  const proxy = readProxy(proxyUrl);
  if (typeof proxy === 'string') {
    owner.log(ERROR, proxy);
    throw new InternalError('failed to evaluate proxy URL');
  }
  const verify = init.verify === undefined ? settings.fetchVerify : Boolean(init.verify);
  const options = {
    bufferSize: sizeOr(init.buffer_size, settings.fetchBufferSize),
    maxResponse: sizeOr(init.max_response_body_size, settings.fetchMaxResponse),
    verify,
    proxy,
    keepalive: settings.fetchKeepalive > 0 && !dynamic && (verify || !/^https:/i.test(request.url)),
  };
  const task = currentTask();
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      task?.disown(cancel);
      then();
      // What waits for the promise runs before the task may be over.
      setImmediate(() => task?.release());
    };
    const run = (body: Buffer): FetchExchange =>
      new FetchExchange(scope, request, body, options, {
        done: (answer) => settle(() => resolve(new FetchResponse({ url: request.url, ...answer }))),
        failed: (error) => settle(() => reject(located(error))),
        log: (level, message) => owner.log(level, message),
      });
    let exchange: FetchExchange | undefined;
    let cancelled = false;
    const cancel = (): void => {
      cancelled = true;
      exchange?.cancel();
    };
    if (Buffer.isBuffer(request.body)) {
      exchange = run(request.body);
    }
    task?.hold();
    task?.own(cancel);
    if (exchange !== undefined) {
      exchange.start();
      return;
    }
    new Response(request.body).arrayBuffer().then(
      (bytes) => {
        if (!cancelled) {
          exchange = run(Buffer.from(bytes));
          exchange.start();
        }
      },
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** A rehearsal answers itself what a script asks of others. */
async function askStandIn(standIn: NetworkStandIn, { url, method, headers, body }: FetchDescription): Promise<FetchResponse> {
  const fields: [string, string][] = [];
  fields.push(...headers);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(await new Response(body).arrayBuffer());
  const answer = await standIn.fetch(url, { method, headers: fields, body: bytes.length > 0 ? bytes : null });
  const answered = new FetchHeaders();
  for (const [name, value] of answer.headers) {
    answered.append(name, value);
  }
  const { status, statusText } = answer;
  return new FetchResponse({ url, status, statusText, headers: answered, body: Buffer.from(await answer.arrayBuffer()) });
}
