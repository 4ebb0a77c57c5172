import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { int } from '../../../shared/config/slots.js';
import { readMap } from '../../lookup/map-block.js';
import { defineModule, defineSharedScope } from '../../module.js';

interface Settings {
  /** Sizes of nginx's own hash tables; read and checked only. */
  hashMaxSize: number | undefined;
  hashBucketSize: number | undefined;
}

const scope = defineSharedScope<Settings>({
  fields: { hashMaxSize: own<number | undefined>(undefined), hashBucketSize: own<number | undefined>(undefined) },
  directives: {
    // Syntax: map source $variable { ... }
    map: {
      in: In.HTTP | In.STREAM,
      args: 2,
      block: 'entries',
      set(conf, node, ctx) {
        // As in nginx the sizes must stand above the first map.
        conf.hashMaxSize ??= 2048;
        conf.hashBucketSize ??= 64;
        readMap(node, ctx);
      },
    },
    // Syntax: map_hash_max_size size;
    map_hash_max_size: { in: In.HTTP | In.STREAM, args: 1, set: int('hashMaxSize') },
    // Syntax: map_hash_bucket_size size;
    map_hash_bucket_size: { in: In.HTTP | In.STREAM, args: 1, set: int('hashBucketSize') },
  },
});

/** Variables whose values depend on other variables'. nginx: ngx_http_map_module. */
export const mapModule = defineModule({ name: 'map', main: scope });
