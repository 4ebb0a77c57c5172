import { PEER, TLS_METER } from '../../../shared/zone/meter-kinds.js';
import type { Labels, MetricsText } from './prometheus.js';

/** TLS handshakes with the peers that speak TLS. */
export function peerTlsMetrics(
  text: MetricsText,
  prefix: string,
  peers: readonly { readonly labels: Labels; readonly values: Float64Array }[],
): void {
  const field = (values: Float64Array, place: number): number => values[PEER.tls + place]!;
  const secure = peers.filter(({ values }) => field(values, TLS_METER.handshakes) + field(values, TLS_METER.failed) > 0);
  text.counter(
    `${prefix}_tls_handshakes_total`,
    'TLS handshakes with the server, by result.',
    secure.flatMap(({ labels, values }): [Labels, number][] => [
      [{ ...labels, result: 'ok' }, field(values, TLS_METER.handshakes)],
      [{ ...labels, result: 'failed' }, field(values, TLS_METER.failed)],
    ]),
  );
  text.counter(
    `${prefix}_tls_session_reuses_total`,
    'Those of them that resumed a session.',
    secure.map(({ labels, values }) => [labels, field(values, TLS_METER.reuses)]),
  );
}
