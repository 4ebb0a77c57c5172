import type { Field } from './field.js';

/** What the fields of one header section may come to. */
export interface FieldLimits {
  /** The number of bytes of a name or a value as it is sent. */
  readonly field: number;
  /** The number of bytes of all names and values. */
  readonly total: number;
}

/** Who is given the fields of a header section, in order. */
export interface FieldSink {
  field(field: Field): void;
}
