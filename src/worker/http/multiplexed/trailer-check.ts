import { CONNECTION_FIELDS } from '../fields/connection-fields.js';
import { FIELD, type Field, NAME } from '../fields/field.js';
import type { FieldSink } from '../fields/field-sink.js';

/** Looks at the fields behind a body, which nobody wants: whether they may stand there. */
export class TrailerCheck implements FieldSink {
  malformed = false;

  field({ name, broken }: Field): void {
    if (name.kind >= FIELD.METHOD || name.state === NAME.REFUSED || broken || CONNECTION_FIELDS.has(name.text)) {
      this.malformed = true;
    }
  }
}
