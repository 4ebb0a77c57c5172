import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { METHOD } from '../../http/syntax/method.js';
import { defineModule, defineScope } from '../../module.js';

interface Limit {
  /** Methods that are not limited, as bits. */
  readonly allowed: number;
  readonly block: Block;
}

const scope = defineScope<{ limit: Limit | undefined }>({
  fields: { limit: own<Limit | undefined>(undefined) },
  directives: {
    // nginx: ngx_http_core_limit_except.
    limit_except: {
      in: In.LOCATION,
      args: { min: 1 },
      block: 'directives',
      set(conf, node, ctx) {
        if (conf.limit !== undefined) {
          ctx.reject('is duplicate');
        }
        let allowed = 0;
        for (const [i, name] of node.args.entries()) {
          const bit = (METHOD as Readonly<Record<string, number>>)[name.toUpperCase()];
          if (bit === undefined || name === 'UNKNOWN') {
            ctx.fail(`invalid method "${name}"`, { arg: i });
          }
          allowed |= bit ?? 0;
        }
        // Who may GET may ask for the head alone.
        if ((allowed & METHOD.GET) !== 0) {
          allowed |= METHOD.HEAD;
        }
        const outer = ctx.block.info as LocationInfo;
        conf.limit = {
          allowed,
          block: ctx.openBlock(node, In.LIMIT_EXCEPT, { kind: 'nameless', name: outer.name } satisfies LocationInfo),
        };
      },
    },
  },
});

/** Lets other settings count for all methods but those named. */
export const limitExceptModule = defineModule({
  name: 'limit_except',
  location: scope,
  finishLocation(conf, location) {
    const inside = conf.limit === undefined ? undefined : location.server.http.locationOf.get(conf.limit.block);
    if (conf.limit !== undefined && inside !== undefined) {
      location.limitExcept = { allowed: conf.limit.allowed, inside };
    }
  },
});
