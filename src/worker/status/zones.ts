import type { Codes } from '../../shared/zone/meter-codes.js';
import { TLS_METER, ZONE } from '../../shared/zone/meter-kinds.js';
import type { Reading } from '../../shared/zone/meters.js';

/** Responses by class and status, in NGINX Plus's form; the classes begin at a place of the row. */
export function responsesObject(values: Float64Array, class1: number, codes: Codes): object {
  const classes = [0, 1, 2, 3, 4].map((i) => values[class1 + i]!);
  return {
    ...Object.fromEntries(classes.map((n, i) => [`${i + 1}xx`, n])),
    codes: Object.fromEntries([...codes].filter(([, n]) => n !== 0).sort(([a], [b]) => a - b)),
    total: classes.reduce((sum, n) => sum + n, 0),
  };
}

/** Handshakes, which begin at a place of the row, in NGINX Plus's form. */
export function tlsObject(values: Float64Array, at: number, side: 'client' | 'upstream'): object {
  const n = (place: number): number => values[at + place]!;
  return {
    handshakes: n(TLS_METER.handshakes),
    handshakes_failed: n(TLS_METER.failed),
    session_reuses: n(TLS_METER.reuses),
    no_common_protocol: n(TLS_METER.noCommonProtocol),
    ...(side === 'client' ? { no_common_cipher: n(TLS_METER.noCommonCipher) } : {}),
    handshake_timeout: n(TLS_METER.timeout),
    peer_rejected_cert: n(TLS_METER.rejected),
    verify_failures: {
      ...(side === 'client' ? { no_cert: n(TLS_METER.noCert) } : {}),
      expired_cert: n(TLS_METER.expiredCert),
      revoked_cert: n(TLS_METER.revokedCert),
      ...(side === 'upstream' ? { hostname_mismatch: n(TLS_METER.hostnameMismatch) } : {}),
      other: n(TLS_METER.otherCert),
    },
  };
}

/** A virtual server in NGINX Plus's form. Requests that are being processed have been received, too. */
export function serverObject({ values, codes }: Reading, tls: boolean): object {
  const processing = Math.max(0, values[ZONE.processing]!);
  return {
    processing,
    requests: values[ZONE.requests]! + processing,
    responses: responsesObject(values, ZONE.class1, codes),
    discarded: values[ZONE.discarded]!,
    received: values[ZONE.received]!,
    sent: values[ZONE.sent]!,
    ...(tls ? { ssl: tlsObject(values, ZONE.tls, 'client') } : {}),
  };
}

/** A location in NGINX Plus's form. */
export function locationObject({ values, codes }: Reading): object {
  return {
    requests: values[ZONE.requests]!,
    responses: responsesObject(values, ZONE.class1, codes),
    discarded: values[ZONE.discarded]!,
    received: values[ZONE.received]!,
    sent: values[ZONE.sent]!,
  };
}

/** A server of `stream` in NGINX Plus's form. */
export function streamServerObject({ values }: Reading, tls: boolean): object {
  const processing = Math.max(0, values[ZONE.processing]!);
  const classes = { '2xx': values[ZONE.class1 + 1]!, '4xx': values[ZONE.class1 + 3]!, '5xx': values[ZONE.class1 + 4]! };
  return {
    processing,
    connections: values[ZONE.requests]! + processing,
    sessions: { ...classes, total: values[ZONE.requests]! - values[ZONE.discarded]! },
    discarded: values[ZONE.discarded]!,
    received: values[ZONE.received]!,
    sent: values[ZONE.sent]!,
    ...(tls ? { ssl: tlsObject(values, ZONE.tls, 'client') } : {}),
  };
}

/** The handshakes with clients and with backends together. */
export function allTlsObject(clients: Float64Array, backends: Float64Array): object {
  const sum = clients.map((n, i) => n + backends[i]!);
  const { verify_failures: failures, ...rest } = tlsObject(sum, 0, 'client') as { readonly verify_failures: { readonly other: number } };
  const { other, ...known } = failures;
  return { ...rest, verify_failures: { ...known, hostname_mismatch: sum[TLS_METER.hostnameMismatch]!, other } };
}
