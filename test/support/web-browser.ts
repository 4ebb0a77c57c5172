import { RawClient, type Response } from './raw-client.js';

/** What a page was asked for with. */
export interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The first request's target, as it is sent, in place of what the address says. */
  readonly target?: string;
  /** How many redirects are followed; all unless told. */
  readonly follow?: number;
}

export interface Page extends Response {
  /** The address that answered in the end. */
  readonly url: string;
  /** The addresses that led there. */
  readonly way: readonly string[];
}

/** As many redirects as browsers follow. */
const MOST = 20;

interface Cookie {
  readonly value: string;
  readonly path: string;
  readonly secure: boolean;
}

/** A browser as far as logins need one: it keeps cookies, by host and path as browsers do, and follows redirects. */
export class WebBrowser {
  /** By host, then by name and path. */
  readonly #jar = new Map<string, Map<string, Cookie & { readonly name: string }>>();

  /** Asks for a page as when its address is typed. */
  async visit(url: string, visit: Visit = {}): Promise<Page> {
    const way: string[] = [];
    let at = url;
    let { method = 'GET', body = '' } = visit;
    for (;;) {
      const response = await this.#ask(at, method, visit.headers ?? {}, body, way.length === 0 ? visit.target : undefined);
      const location = response.header('location');
      if (location === undefined || response.status < 301 || response.status > 308 || way.length >= (visit.follow ?? MOST)) {
        if (way.length >= MOST) {
          throw new Error(`too many redirects: ${way.join('\n')}`);
        }
        return Object.assign(response, { url: at, way });
      }
      way.push(at);
      at = new URL(location, at).href.replace(/#.*/, '');
      if (response.status < 307) {
        method = 'GET';
        body = '';
      }
    }
  }

  /** The cookies for an address, as they are sent. */
  cookies(url: string): string {
    const { hostname, pathname, protocol } = new URL(url);
    return [...(this.#jar.get(hostname)?.values() ?? [])]
      .filter(
        ({ path, secure }) => (protocol === 'https:' || !secure) && (pathname === path || pathname.startsWith(path.replace(/\/?$/, '/'))),
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  /** The value of a cookie of a host; undefined if it has none. */
  cookie(host: string, name: string): string | undefined {
    return [...(this.#jar.get(host)?.values() ?? [])].find((cookie) => cookie.name === name)?.value;
  }

  setCookie(host: string, name: string, value: string | undefined): void {
    const jar = this.#jar.get(host) ?? new Map();
    this.#jar.set(host, jar);
    if (value === undefined) {
      jar.delete(`${name} /`);
    } else {
      jar.set(`${name} /`, { name, value, path: '/', secure: false });
    }
  }

  /** Another browser with the same cookies. */
  copy(): WebBrowser {
    const other = new WebBrowser();
    for (const [host, jar] of this.#jar) {
      other.#jar.set(host, new Map(jar));
    }
    return other;
  }

  async #ask(url: string, method: string, headers: Readonly<Record<string, string>>, body: string, target?: string): Promise<Response> {
    const { protocol, hostname, port, host, pathname, search } = new URL(url);
    const secure = protocol === 'https:';
    const client = await RawClient.connect(
      Number(port || (secure ? 443 : 80)),
      secure ? { tls: { servername: hostname.includes(':') || /^[\d.]+$/.test(hostname) ? '' : hostname } } : {},
    );
    try {
      const cookies = this.cookies(url);
      const lines = {
        Host: host,
        Connection: 'close',
        Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
        ...(cookies === '' ? {} : { Cookie: cookies }),
        ...(method === 'POST' ? { 'Content-Length': String(body.length), 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
        ...headers,
      };
      client.send(
        `${method} ${target ?? pathname + search} HTTP/1.1\r\n${Object.entries(lines)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n${body}`,
        method,
      );
      const response = await client.response();
      this.#keep(hostname, pathname, response);
      return response;
    } finally {
      client.socket.destroy();
    }
  }

  #keep(host: string, at: string, response: Response): void {
    const jar = this.#jar.get(host) ?? new Map();
    this.#jar.set(host, jar);
    for (const line of response.headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)) {
      const [pair, ...attributes] = line.split(';').map((part) => part.trim());
      const [name, value] = pair!.split(/=(.*)/s) as [string, string];
      const attribute = (wanted: string): string | undefined =>
        attributes.find((text) => text.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
      const path = attribute('path') ?? (at.replace(/\/[^/]*$/, '') || '/');
      const expires = attribute('expires');
      if (attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now())) {
        jar.delete(`${name} ${path}`);
      } else {
        jar.set(`${name} ${path}`, { name, value: value ?? '', path, secure: attributes.some((text) => text.toLowerCase() === 'secure') });
      }
    }
  }
}
