import { FIELD, type Field, NAME } from '../fields/field.js';
import type { FieldSink } from '../fields/field-sink.js';
import { HeaderSlot } from '../syntax/header-names.js';

/** Fields of a connection, of which requests on streams say nothing anywhere (RFC 9113, 8.2.2; RFC 9114, 4.2). */
const OF_CONNECTION: readonly number[] = [HeaderSlot.connection, HeaderSlot.keepAlive, HeaderSlot.transferEncoding, HeaderSlot.upgrade];

/** Looks at the fields behind a body, which nobody wants: whether they may stand there. */
export class TrailerCheck implements FieldSink {
  malformed = false;

  field({ name, broken }: Field): void {
    const ofConnection = name.text === 'proxy-connection' || (name.known !== undefined && OF_CONNECTION.includes(name.known.slot));
    if (name.kind >= FIELD.METHOD || name.state === NAME.REFUSED || broken || ofConnection) {
      this.malformed = true;
    }
  }
}
