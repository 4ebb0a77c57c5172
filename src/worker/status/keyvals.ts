import { nativeText } from '../../shared/text/native-text.js';
import { httpKeyvals, streamKeyvals } from '../lookup/keyval-zone.js';
import type { Protocol, StatusSource } from './source.js';

/** A keyval zone as people see it. */
export interface ShownKeyvals {
  readonly name: string;
  readonly of: Protocol;
  readonly type: string;
  /** Milliseconds; 0 for none. */
  readonly timeout: number;
  readonly state: boolean;
  readonly count: number;
  /** The first ones by their keys; `ends` in milliseconds of the wall clock, null for never. */
  readonly pairs: readonly { readonly key: string; readonly value: string; readonly ends: number | null }[];
}

/** The keyval zones of `http` and of `stream`, each with some of its pairs. */
export function takeKeyvals({ env }: StatusSource, most: number): ShownKeyvals[] {
  return (['http', 'stream'] as const).flatMap((protocol) =>
    [...env.zones.ofKind(protocol === 'http' ? httpKeyvals : streamKeyvals).values()].map((zone) => {
      const pairs = zone.pairs().sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        name: nativeText(zone.name),
        of: protocol,
        type: zone.data.type,
        timeout: zone.data.timeout,
        state: zone.data.state !== undefined,
        count: pairs.length,
        pairs: pairs.slice(0, most).map(([key, { value, expires }]) => ({
          key: nativeText(key),
          value: nativeText(value),
          ends: Number.isFinite(expires) ? expires : null,
        })),
      };
    }),
  );
}
