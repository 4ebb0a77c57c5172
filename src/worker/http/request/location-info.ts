import type { RegexValue } from '../../../shared/value/regex-value.js';
import type { Request } from './request.js';

/** How a location is matched. `nameless` is an `if` or `limit_except` block, reached only from inside its location. */
export type LocationKind = 'root' | 'exact' | 'prefix' | 'prefix-final' | 'regex' | 'named' | 'nameless';

/** What the directive that opened a location block knows about it. */
export interface LocationInfo {
  readonly kind: LocationKind;
  readonly name: string;
  readonly regex?: RegexValue<Request>;
  /** The module whose content handler the location uses alone, once one claimed it. */
  handler?: string;
  /** The group that requests are passed on to, when it is always the same one. */
  backend?: { readonly host: string };
  /** The location's servers speak gRPC. */
  grpc?: boolean;
  /** The names of the server, for its outermost location. */
  serverNames?: readonly { readonly name: string; readonly regex?: RegexValue<Request> }[];
  /** The host names that its `listen` lines have, for the same. */
  listenNames?: readonly string[];
  /** Answers `/x` with a redirect to `/x/`, for prefix locations that end in a slash and pass requests on. */
  autoRedirect?: boolean;
}
