import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

// `fetch` of a thread with grants. Each connection is asked for, so that redirects are, too.

interface Dispatcher {
  dispatch(options: { readonly origin?: unknown; readonly upgrade?: unknown; readonly method?: unknown }, handler: unknown): boolean;
}

type Fetch = typeof globalThis.fetch;

const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Whether a URL's host may be asked: any, or one of `host` and `host:port`, where `*.` stands for names below. */
export function mayFetch(hosts: readonly string[], origin: string): boolean {
  const { hostname, port, protocol } = new URL(origin);
  const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return hosts.some((one) => {
    const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(one) ?? [];
    if (wanted !== undefined && wanted !== number) {
      return false;
    }
    return name === '*' || name === hostname || (name.startsWith('*.') && hostname.endsWith(name.slice(1)));
  });
}

/** Has Node load its parser of HTTP, for which it needs what the thread is about to lose: with the first answer. */
async function askItself(nodeFetch: Fetch): Promise<void> {
  const server = createServer((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await (await nodeFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  server.close();
}

/**
 * Node's `fetch` for the hosts that are granted. Takes Node's own way to connections away from the thread; to be called before any of its
 * code runs.
 */
export async function grantedFetch(hosts: readonly string[], nodeFetch: Fetch): Promise<Fetch> {
  const global = globalThis as unknown as Record<symbol, Dispatcher>;
  if (hosts.length > 0) {
    await askItself(nodeFetch);
  }
  const agent = global[DISPATCHER];
  const refuse: Dispatcher = {
    dispatch() {
      throw new TypeError('"js_isolation" allows connections by fetch alone');
    },
  };
  Object.defineProperty(globalThis, DISPATCHER, { value: Object.freeze(refuse), writable: false });
  if (agent === undefined || hosts.length === 0) {
    return () => Promise.reject(new TypeError('fetch is not allowed by "js_isolation"'));
  }
  const dispatcher: Dispatcher = {
    dispatch(options, handler) {
      const origin = String(options.origin);
      if (options.upgrade !== undefined && options.upgrade !== null && options.upgrade !== false) {
        throw new TypeError('"js_isolation" allows no upgrade of a connection');
      }
      if (options.method === 'CONNECT' || !mayFetch(hosts, origin)) {
        throw new TypeError(`"js_isolation" does not allow to fetch from "${origin}"`);
      }
      return agent.dispatch({ ...options, origin }, handler);
    },
  };
  const Kept = [
    'method',
    'headers',
    'body',
    'signal',
    'redirect',
    'duplex',
    'keepalive',
    'credentials',
    'cache',
    'integrity',
    'mode',
    'referrer',
    'referrerPolicy',
  ];
  return function fetch(input, init) {
    const own: Record<string, unknown> = {};
    for (const name of Kept) {
      const value = (init as Record<string, unknown> | undefined)?.[name];
      if (value !== undefined) {
        own[name] = value;
      }
    }
    return nodeFetch(input, { ...own, dispatcher } as RequestInit);
  };
}
