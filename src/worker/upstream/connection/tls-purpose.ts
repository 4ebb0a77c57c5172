import type { SecureContext } from 'node:tls';

/**
 * What a connection of TLS to a backend is opened for. A request may have one that waits if it would open the same: otherwise a
 * backend would take it for somebody else, or it would trust a backend that it has not looked at.
 */
export interface TlsPurpose {
  /** Made of all settings that have no variables. */
  readonly context: SecureContext;
  /** The names of the certificate's and the key's files, where they have variables. */
  readonly certificate: string;
  readonly key: string;
  /** The backend's name, where it is told or looked at. */
  readonly name: string;
  /** The name is told in the hello. */
  readonly told: boolean;
  /** How long a chain the backend may have; 0 where nobody looks. */
  readonly depth: number;
}

/** Whether both are opened alike; null: without TLS. */
export const samePurpose = (one: TlsPurpose | null, other: TlsPurpose | null): boolean =>
  one === other || (one !== null && other !== null && isAlike(one, other));

const isAlike = (one: TlsPurpose, other: TlsPurpose): boolean =>
  one.context === other.context &&
  one.name === other.name &&
  one.told === other.told &&
  one.certificate === other.certificate &&
  one.key === other.key &&
  one.depth === other.depth;
