import { In } from '../../../shared/config/context.js';
import { type Directive, own } from '../../../shared/config/define.js';
import { requestAddress } from '../../http/headers/request-address.js';
import { CITY_EDITIONS, COUNTRY_EDITIONS, NAME_EDITIONS } from '../../lookup/geoip-database.js';
import { readNetwork } from '../../lookup/network.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { taskAddress } from '../../task/task-address.js';
import { Geoip, type Kind } from './geoip.js';
import { readDatabase } from './read-database.js';
import { GeoipVariables, unusedVariables } from './variables.js';

interface Settings {
  /** What the lines say, and their variables; undefined without a line. */
  geoip: { readonly databases: Geoip; readonly variables: GeoipVariables } | undefined;
}

/** The first line of a block takes the variables. */
function geoipOf(conf: Partial<Settings>, ctx: SharedContext): NonNullable<Settings['geoip']> {
  if (conf.geoip === undefined) {
    const databases = new Geoip(ctx.block.context === In.STREAM ? taskAddress : requestAddress);
    conf.geoip = { databases, variables: new GeoipVariables(databases, ctx) };
  }
  return conf.geoip;
}

/** A directive `file [utf8]`. `what`: what a message calls such databases. */
const database = (kind: Kind, editions: readonly number[], what = 'GeoIP'): Directive<Settings, ClientTask> => ({
  in: In.HTTP | In.STREAM,
  args: [1, 2],
  set(conf, node, ctx) {
    const { databases, variables } = geoipOf(conf, ctx);
    if (databases[kind] !== undefined) {
      ctx.reject('is duplicate');
    }
    databases[kind] = readDatabase(ctx, editions, what);
    variables.come(kind, { text: node.name, pos: node.pos });
  },
});

const scope = defineSharedScope<Settings>({
  fields: { geoip: own<Settings['geoip']>(undefined) },
  directives: {
    geoip_country: database('country', COUNTRY_EDITIONS),
    geoip_org: database('org', NAME_EDITIONS),
    geoip_city: database('city', CITY_EDITIONS, 'GeoIP City'),
    // Syntax: geoip_proxy address | CIDR;
    geoip_proxy: {
      in: In.HTTP,
      args: 1,
      set: (conf, node, ctx) => void geoipOf(conf, ctx).databases.proxies.push(readNetwork(node.args[0]!, ctx)),
    },
    // Syntax: geoip_proxy_recursive on | off;
    geoip_proxy_recursive: {
      in: In.HTTP,
      args: 'flag',
      set(conf, node, ctx) {
        const { databases } = geoipOf(conf, ctx);
        if (databases.recursive !== undefined) {
          ctx.reject('is duplicate');
        }
        databases.recursive = node.args[0]!.toLowerCase() === 'on';
      },
    },
  },
});

const start = ({ geoip }: Readonly<Settings>): void => geoip?.databases.start();

/**
 * Variables of the client's country, city and organization, from databases of MaxMind's old form. nginx: ngx_http_geoip_module,
 * ngx_stream_geoip_module.
 */
export const geoipModule = defineModule({
  name: 'geoip',
  main: scope,
  variables: unusedVariables,
  installMain: start,
  stream: { variables: unusedVariables, installMain: start },
});
