import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ZoneRef } from '../../../shared/zone/kind.js';
import type { Request } from '../../http/request/request.js';
import type { KeyvalData, KeyvalZone } from '../../lookup/keyval-zone.js';

export type SignatureZoneRef = ZoneRef<KeyvalZone, KeyvalData>;

/** What a location says of signed requests. */
export interface SignatureSettings {
  /** Undefined: off. */
  realm: ComplexValue<Request> | undefined;
  /** Complete paths of files with JSON Web Key Sets. */
  files: readonly string[];
  /** Zones with keys by their names. */
  zones: readonly SignatureZoneRef[];
  /** What a signature must cover. */
  components: readonly string[];
  /** Milliseconds that a signature holds from its creation on. */
  maxAge: number;
  /** Milliseconds by which clocks may differ. */
  leeway: number;
  /** Where nonces are noted that have come; undefined: nobody asks for any. */
  nonces: SignatureZoneRef | undefined;
  /** What a signature must say that it is for; undefined: anything. */
  tag: string | undefined;
}

/** What must be covered unless told: all that says what is asked for, and the body. */
export const USUAL_COMPONENTS: readonly string[] = ['@method', '@authority', '@path', '@query', 'content-digest'];

/** The component that stands for the body: a request without one need not cover it. */
export const BODY = 'content-digest';
