import type { HttpRuntime } from '../request/http-runtime.js';
import type { Request } from '../request/request.js';
import { nameSlot } from '../request/server-names.js';
import { Trace } from '../request/trace.js';

/** Begins to note what the engine decides for a request, whose server is chosen. */
export function beginTrace(r: Request): Trace {
  const trace = new Trace();
  r.trace = trace;
  const { connection } = r;
  const { address } = connection;
  const listen =
    address.address === undefined
      ? `*:${address.port}`
      : address.port === 0
        ? `unix:${address.address}`
        : `${address.address}:${address.port}`;
  const { host } = r.head;
  const { name, how } = serverChoice(r, host);
  const server = name === '' ? 'the server without a name' : `server ${name}`;
  trace.add(
    r,
    'server',
    `${server} on ${listen}: ${how}`,
    { in: r.server.root },
    { listen, host, name: r.server.conf(nameSlot).serverName, how },
  );
  return trace;
}

/** Which of the server's names the host is, and why the server was chosen. nginx: ngx_http_find_virtual_server. */
function serverChoice(r: Request, host: string): { readonly name: string; readonly how: string } {
  const { address } = r.connection;
  const own = r.server.conf(nameSlot).serverName;
  const names = r.server.root.info.serverNames ?? [];
  if (address.single) {
    return { name: own, how: 'it is the only one there' };
  }
  if (names.some(({ name, regex }) => regex === undefined && name.toLowerCase() === host)) {
    return { name: host, how: 'server_name is the host exactly' };
  }
  const wildcard = names.find(({ name, regex }) => regex === undefined && fits(name.toLowerCase(), host));
  if (wildcard !== undefined) {
    return { name: wildcard.name, how: `the wildcard fits the host "${host}"` };
  }
  const expression = names.find(({ regex }) => regex !== undefined);
  if (expression !== undefined && address.find(host, r) === r.server) {
    return { name: expression.name, how: `the regular expression matches the host "${host}"` };
  }
  return { name: own, how: `the default server there, since no server_name is "${host}"` };
}

/** Whether a host is below a name that begins or ends with `*` or begins with a dot. */
function fits(name: string, host: string): boolean {
  if (name.startsWith('.')) {
    return host === name.slice(1) || host.endsWith(name);
  }
  if (name.startsWith('*.')) {
    return host.endsWith(name.slice(1)) && host.length > name.length - 1;
  }
  return name.endsWith('.*') && host.startsWith(name.slice(0, -1));
}

/** Has the values of `map`, `geo` and `split_clients` noted in the traces of requests that use them. */
export function traceVariables(http: HttpRuntime): void {
  http.variables.watch({
    computed(r, { name, origin }, value) {
      r.trace?.add(r, 'variable', `$${name} is "${value ?? ''}", by ${origin!.text}`, origin!.pos, { name, value });
    },
  });
}
