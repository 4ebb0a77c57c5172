import { nativeText } from '../../shared/text/native-text.js';
import type { ResponseFault, WholeResponse } from '../upstream/response/whole-response.js';
import { FetchHeaders } from './fetch-headers.js';

/** A response as it came over the network. */
export interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: FetchHeaders;
  readonly body: Buffer;
}

/** Chunked bodies may be as many times longer, as in njs. */
export const CHUNKED_FACTOR = 10;

/** What scripts are told of a response that is none, in njs's words. */
const TEXTS: { readonly [fault in ResponseFault]: string } = {
  'no head': 'invalid http status line',
  'bad head': 'invalid http header',
  'long head': 'prematurely closed connection',
  'long body announced': 'http content length is too large',
  'long body': 'http response body is too large',
  'long chunked body': 'very large http chunked response',
  'bad chunks': 'invalid http chunked response',
  short: 'prematurely closed connection',
};

/** The error for a response with a fault. */
export const faultError = (response: WholeResponse, fault: ResponseFault): Error =>
  new Error(
    fault === 'bad head' && response.why.startsWith('upstream sent invalid "Content-Length"')
      ? 'invalid http content length'
      : TEXTS[fault],
  );

/** A complete response for scripts. @throws Error when a header has no place among theirs. */
export function fetchAnswer(response: WholeResponse): FetchAnswer {
  const { status, statusText = '', headers } = response.head;
  const list = new FetchHeaders();
  for (const { name, value } of headers) {
    try {
      list.append(name, nativeText(value));
    } catch {
      throw new Error('invalid http header');
    }
  }
  return { status, statusText: nativeText(statusText), headers: list, body: response.body() };
}
