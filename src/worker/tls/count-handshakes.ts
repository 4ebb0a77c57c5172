import { TLS_METER, tlsKind, ZONE } from '../../shared/zone/meter-kinds.js';
import type { TlsDone } from '../task/tls-terminator.js';
import type { TlsPeer } from './peer.js';
import type { TlsAddress, TlsServer } from './tls-address.js';

/** What OpenSSL says of handshakes, by the place where they are counted. */
const FAILURES: readonly (readonly [words: RegExp, place: number])[] = [
  [/unsupported protocol|version too low|wrong version|no protocols|unknown protocol|alert protocol version/, TLS_METER.noCommonProtocol],
  [/no shared cipher|alert handshake failure/, TLS_METER.noCommonCipher],
  [/alert (?:bad|unsupported|unknown) ?certificate|alert certificate|alert unknown ca/, TLS_METER.rejected],
];

/** Where a failure is counted besides, by OpenSSL's words; undefined where there is no place of its own. */
export const failurePlace = (message: string): number | undefined => FAILURES.find(([words]) => words.test(message))?.[1];

/** Where a certificate that is not trusted is counted, by OpenSSL's number. */
export const verifyPlace = (code: number): number =>
  code === 9 || code === 10 ? TLS_METER.expiredCert : code === 23 ? TLS_METER.revokedCert : TLS_METER.otherCert;

/** Has the outcome of a handshake counted before it is told. */
export function counted<S extends TlsServer>(address: TlsAddress<S>, done: TlsDone<S>): TlsDone<S> {
  const { defaultServer } = address;
  if (defaultServer.meters === null && defaultServer.zone === null) {
    return done;
  }
  return (result) => {
    if ('message' in result) {
      countFailure(defaultServer, result.message);
    } else {
      countHandshake(result.server, (result.peer as TlsPeer).cipher?.isSessionReused() === true);
    }
    done(result);
  };
}

/** Counts a handshake that is over; `reused`: it went on with an earlier session. */
export function countHandshake(server: TlsServer, reused: boolean): void {
  count(server, TLS_METER.handshakes);
  if (reused) {
    count(server, TLS_METER.reuses);
  }
}

/** Counts a handshake that failed, by what is said of it. */
export function countFailure(server: TlsServer, message: string): void {
  count(server, TLS_METER.failed);
  const place = failurePlace(message);
  if (place !== undefined) {
    count(server, place);
  }
}

export function countTimeout(server: TlsServer): void {
  count(server, TLS_METER.failed);
  count(server, TLS_METER.timeout);
}

/** Counts a client whose certificate is missing (`code` 0) or not trusted, by OpenSSL's number. */
export function countVerifyFailure(server: TlsServer, code: number): void {
  count(server, code === 0 ? TLS_METER.noCert : verifyPlace(code));
}

function count(server: TlsServer, place: number): void {
  server.zone?.count(ZONE.tls + place);
  server.meters?.meter(tlsKind, '').count(place);
}
