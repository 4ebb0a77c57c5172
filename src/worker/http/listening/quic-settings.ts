import { ServerSlot } from '../../task/settings-slot.js';

/** The settings of `quic_*`, for addresses whose default server this is. */
export interface AddressQuicSettings {
  quicRetry: boolean;
  /** Undefined: what the configuration does not say is on, since the system either does it or is asked once. */
  quicGso: boolean | undefined;
  /** A secret, a character for a byte; undefined for one of the server's own. */
  quicHostKey: string | undefined;
  /** How many connection IDs of a client are kept. */
  quicIdLimit: number;
}

export const quicSlot = new ServerSlot<Readonly<AddressQuicSettings>>();
