import type { CertificatePair } from '../acme/acme-zone.js';
import type { Order } from '../acme/settings.js';
import type { RenewalInfo } from './client.js';

/** Whoever issues certificates. */
export interface Authority {
  /** Whether attempts cost somebody else: then one that failed, whatever the reason, is not made again soon. */
  readonly foreign: boolean;
  /**
   * Gets a certificate; `replaces` names the one that goes out of use, as renewal information does. Rejects with {@link AcmeProblem},
   * {@link Unreachable}, {@link NoAccount}, {@link Stopped} or an Error that says what is wrong.
   */
  certificate(order: Order, replaces: string | undefined): Promise<CertificatePair>;
  /** The certificate of an order is stored: what was kept to go on with the order may go. */
  stored(order: Order): void;
  /** When a certificate should be renewed; undefined when the authority does not say. */
  renewalInfo(id: string): Promise<RenewalInfo | undefined>;
  /** There is nothing to do for now. */
  rest(): void;
  /** Gives up what is under way. */
  stop(): void;
}

/** The account at an authority cannot be used, whichever certificate is wanted; `cause` says why. */
export class NoAccount extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(`${cause.message} while creating account`);
    this.cause = cause;
  }
}
