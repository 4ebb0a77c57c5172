import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { AnyZoneRef, ZoneScope } from '../../../shared/zone/kind.js';
import type { WorkerEnv } from '../../env.js';
import type { ClientTask } from '../../task/client-task.js';

/**
 * What all requests of a location, or sessions of a server, have in common whose limits count by a key; the key is in the data of each
 * limit's zone.
 */
export class LimitedLocation<C extends { readonly limits: readonly { readonly zone: AnyZoneRef }[] }> {
  readonly conf: Readonly<C>;
  readonly env: WorkerEnv;
  readonly keys: readonly ComplexValue<ClientTask>[];
  /** The zones of all limits together. */
  readonly scope: ZoneScope;

  constructor(conf: Readonly<C>, env: WorkerEnv) {
    this.conf = conf;
    this.env = env;
    this.keys = conf.limits.map(({ zone }) => zone.data.key);
    this.scope = env.zones.together(conf.limits.map(({ zone }) => zone));
  }

  /**
   * The keys a request is counted by, in the order of the limits; undefined when all are empty. An empty key is not counted, and neither is
   * one of more than `longest` bytes, which goes into the error log.
   */
  keysOf(r: ClientTask, longest: number): string[] | undefined {
    const { keys } = this;
    const values: string[] = [];
    let counted = false;
    for (let i = 0; i < keys.length; i++) {
      let value = keys[i]!.eval(r);
      if (value.length > longest) {
        r.log(ERROR, `the value of the "${keys[i]!.text}" key is more than ${longest} bytes: "${value}"`);
        value = '';
      }
      if (value !== '') {
        counted = true;
      }
      values.push(value);
    }
    return counted ? values : undefined;
  }
}
