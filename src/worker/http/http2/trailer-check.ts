import type { FieldSink } from '../http2-frames/hpack/decoder.js';
import { FIELD, type Field, NAME } from '../http2-frames/hpack/field.js';

/** Looks at the fields behind a body, which nobody wants: whether they may stand there. */
export class TrailerCheck implements FieldSink {
  malformed = false;

  field({ name, broken }: Field): void {
    if (name.kind >= FIELD.METHOD || name.state === NAME.REFUSED || broken) {
      this.malformed = true;
    }
  }
}
