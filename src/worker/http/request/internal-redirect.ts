import { DEBUG, ERROR } from '../../../shared/log/level.js';
import { DONE, type Result } from '../../task/codes.js';
import { enterLocation } from './find-config.js';
import type { Request } from './request.js';
import { PhaseStep, runPhases, startPhases } from './run-phases.js';

/** The part of a path after the last dot of its last segment. nginx: ngx_http_set_exten. */
export function extension(uri: string): string {
  for (let i = uri.length - 1; i > 0; i--) {
    const code = uri.charCodeAt(i);
    if (code === 46 && uri.charCodeAt(i - 1) !== 47) {
      return uri.slice(i + 1);
    }
    if (code === 47) {
      return '';
    }
  }
  return '';
}

/**
 * Sends the request through all phases again under another URI, of whose `..` so many are the configuration's; see {@link Request.uriUps}.
 * Returns DONE. nginx: ngx_http_internal_redirect.
 */
export function internalRedirect(r: Request, uri: string, args: string, uriUps: number): Result {
  if (!r.mayChangeUri()) {
    r.log(ERROR, `rewrite or internal redirection cycle while internally redirecting to "${uri}"`);
    r.finalize(500);
    return DONE;
  }
  if (r.trace !== null) {
    r.trace.add(r, 'redirect', `goes on as "${withArgs(uri, args)}", inside the server`, undefined, {
      from: withArgs(r.uri, r.args),
      to: withArgs(uri, args),
    });
  }
  r.uri = uri;
  r.uriUps = uriUps;
  r.args = args;
  r.exten = extension(uri);
  if (r.debugging) {
    r.log(DEBUG, `internal redirect: "${uri}?${args}"`);
  }
  r.ctx = null;
  r.location = r.server.root;
  enterLocation(r, r.server.root);
  r.internal = true;
  r.validUnparsedUri = false;
  r.addUriToAlias = false;
  startPhases(r);
  return DONE;
}

/** Sends the request to an `@name` location, URI unchanged. Returns DONE. nginx: ngx_http_named_location. */
export function namedLocation(r: Request, name: string): Result {
  if (!r.mayChangeUri()) {
    r.log(ERROR, `rewrite or internal redirection cycle while redirect to named location "${name}"`);
    r.finalize(500);
    return DONE;
  }
  if (r.uri === '') {
    r.log(ERROR, `empty URI in redirect to named location "${name}"`);
    r.finalize(500);
    return DONE;
  }
  const location = r.server.named.get(name);
  if (location === undefined) {
    r.log(ERROR, `could not find named location "${name}"`);
    r.finalize(500);
    return DONE;
  }
  if (r.debugging) {
    r.log(DEBUG, `using location: ${name} "${r.uri}?${r.args}"`);
  }
  if (r.trace !== null) {
    r.trace.add(r, 'location', `location ${name}: named`, { in: location }, { location: name, uri: r.uri });
  }
  r.internal = true;
  r.contentHandler = undefined;
  r.uriChanged = false;
  r.ctx = null;
  enterLocation(r, location);
  r.phase = PhaseStep.REWRITE;
  r.step = 0;
  runPhases(r);
  return DONE;
}

/** Splits `path?args` at the first question mark. nginx: ngx_http_split_args. */
export function splitArgs(target: string): { readonly uri: string; readonly args: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { uri: target, args: '' } : { uri: target.slice(0, mark), args: target.slice(mark + 1) };
}

const withArgs = (uri: string, args: string): string => (args === '' ? uri : `${uri}?${args}`);
