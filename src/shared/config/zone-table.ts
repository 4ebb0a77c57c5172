import type { ZoneKind, ZoneRef } from '../zone/kind.js';
import type { Pos } from './language/ast.js';

interface MutableZone {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: zones of all kinds stand in one table
  kind: ZoneKind<any, any>;
  bytes: number;
  data: unknown;
  pos: Pos;
}

/** The smallest zone nginx accepts: eight pages. */
const MIN_BYTES = 8 * 4096;

/** All shared zones that a configuration names. nginx: ngx_shared_memory_add. */
export class ZoneTable {
  readonly #zones = new Map<string, MutableZone>();

  /** Finds or makes a zone. Returns nginx's message when the name stands for something else already. */
  name<Z, D>(kind: ZoneKind<Z, D>, name: string, pos: Pos, define?: { readonly bytes: number; readonly data: D }): ZoneRef<Z, D> | string {
    let zone = this.#zones.get(name);
    if (zone === undefined) {
      zone = { name, kind, bytes: 0, data: undefined, pos };
      this.#zones.set(name, zone);
    }
    if (zone.kind !== kind) {
      return `the shared memory zone "${name}" is already declared for a different use`;
    }
    if (define !== undefined) {
      if (define.bytes !== 0 && define.bytes < MIN_BYTES) {
        return `zone "${name}" is too small`;
      }
      if (zone.bytes !== 0 && define.bytes !== 0 && zone.bytes !== define.bytes) {
        return `the size ${define.bytes} of shared memory zone "${name}" conflicts with already declared size ${zone.bytes}`;
      }
      if (define.bytes !== 0) {
        zone.bytes = define.bytes;
      }
      zone.data = define.data;
    }
    return zone as ZoneRef<Z, D>;
  }

  /** A zone by name, whatever its kind. */
  get(name: string): ZoneRef<unknown, unknown> | undefined {
    return this.#zones.get(name) as ZoneRef<unknown, unknown> | undefined;
  }

  /** All zones, in the order they were first named. */
  all(): readonly (ZoneRef<unknown, unknown> & { readonly pos: Pos })[] {
    return [...this.#zones.values()] as never;
  }
}
