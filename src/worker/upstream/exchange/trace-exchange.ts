import type { Request } from '../../http/request/request.js';
import type { TraceDirective } from '../../http/request/trace.js';
import type { Peer } from '../balancing/peer.js';
import type { UpstreamRequest } from './upstream-request.js';

/** The line that passes a location's requests on. */
function passLine(r: Request): TraceDirective {
  let at = r.location;
  while (at.info.handler === undefined && at.parent !== undefined && at.info.kind === 'nameless') {
    at = at.parent;
  }
  return { in: r.location, directive: at.info.handler === undefined ? undefined : `${at.info.handler}_pass` };
}

/** Notes which peer is asked; null: none can be. */
export function traceChoice({ r, peer, schema }: UpstreamRequest, chosen: Peer | null): void {
  const group = peer.groupName ?? peer.tlsName;
  const text =
    chosen === null
      ? `no server of "${group}" can be asked`
      : chosen.name === group
        ? `backend ${chosen.name}`
        : `backend ${chosen.name} of "${group}"`;
  r.trace!.add(r, 'upstream', text, passLine(r), { group, peer: chosen?.name, schema, others: peer.mayTryAnother });
}

/** Notes what goes to the backend. Of protocols that are no text, only what is asked for. */
export function traceRequest({ r, peer, schema, uri, exchange }: UpstreamRequest, reused: boolean): void {
  const { requestText } = exchange;
  const end = requestText.indexOf('\r\n\r\n');
  const lines = end !== -1 && /^[A-Z]+ /.test(requestText) ? requestText.slice(0, end).split('\r\n') : [];
  const text = `${schema}${peer.name ?? ''}${uri}${reused ? ', on a connection that was kept' : ''}`;
  r.trace!.add(r, 'backend-request', text, passLine(r), { peer: peer.name, line: lines[0], headers: lines.slice(1), reused });
}

/** Notes what the backend answers. */
export function traceResponse({ r, peer, head }: UpstreamRequest): void {
  const headers = head.headers.map(({ name, value }) => `${name}: ${value}`);
  r.trace!.add(r, 'backend-response', `${peer.name} answers ${head.status}`, undefined, { peer: peer.name, status: head.status, headers });
}
