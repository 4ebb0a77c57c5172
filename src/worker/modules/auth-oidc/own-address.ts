import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import type { ProviderSettings } from './settings.js';

/** The longest address that a browser is led back to after a login, in characters. */
const MAX_RETURN = 1536;

/** Whether browsers reach this server over TLS, which its own or that of a proxy before it may be. */
export const isSecure = (r: Request, { redirectUri }: ProviderSettings): boolean =>
  r.connection.tls !== undefined || !redirectUri.startsWith('/');

/** Scheme, host and port by which the browser has reached this server; an absolute `redirect_uri` says it for servers behind a proxy. */
export function ownOrigin(r: Request, { redirectUri }: ProviderSettings): string {
  if (!redirectUri.startsWith('/')) {
    return /^https:\/\/[^/?]*/i.exec(redirectUri)![0];
  }
  const { host, port } = r.head;
  const name = host || r.server.conf(nameSlot).serverName || r.connection.localAddress;
  return `${r.connection.tls === undefined ? 'http' : 'https'}://${name}${port === 0 ? '' : `:${port}`}`;
}

/** The whole URL of a path of this server; one that is whole stays as it is. */
export const ownUrl = (r: Request, settings: ProviderSettings, uri: string): string =>
  uri.startsWith('/') ? ownOrigin(r, settings) + uri : uri;

/** Makes a target a path of this server and nothing else: browsers take two slashes, or a backslash, for the beginning of a host. */
export function safePath(target: string): string {
  const escaped = target.replace(/[^\x21-\x7e]|[\\"<>^`{|}]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  return `/${escaped.replace(/^\/+/, '')}`;
}

/**
 * Where the browser goes after the login: the page that it asked for. What a form has sent is lost by then, so that its page is shown
 * again, if the browser says which of ours it was.
 */
export function returnPath(r: Request, settings: ProviderSettings): string {
  if (r.method === 'GET' || r.method === 'HEAD') {
    return bounded(safePath(r.unparsedUri));
  }
  const origin = ownOrigin(r, settings);
  const referer = r.header('referer');
  const page = referer?.startsWith(`${origin}/`) === true ? referer.slice(origin.length).replace(/#.*/s, '') : '/';
  return bounded(safePath(page));
}

function bounded(path: string): string {
  if (path.length <= MAX_RETURN) {
    return path;
  }
  const alone = path.replace(/\?.*/s, '');
  return alone.length <= MAX_RETURN ? alone : '/';
}
