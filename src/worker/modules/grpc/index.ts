import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { LateValue } from '../../../shared/config/late-value.js';
import { bits, flag, int } from '../../../shared/config/slots.js';
import { type BackendPass, mayUseTls, readBackendPass } from '../../cgi/backend-pass.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { defineModule, defineScope } from '../../module.js';
import { finishUpstream, upstreamDirectives, upstreamFields } from '../../upstream/directives/directives.js';
import { linkTlsClient, tlsClientDirectives, tlsClientFields } from '../../upstream/directives/tls-directives.js';
import { nextUpstreamWords } from '../../upstream/settings/failure.js';
import { grpcHandler } from './handler.js';
import { type GrpcHeaderLine, type GrpcSettings, SCHEMES } from './settings.js';
import { grpcStatus } from './status.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

/** nginx: ngx_http_grpc_next_upstream_masks. */
const { updating: _updating, ...NEXT_UPSTREAM } = nextUpstreamWords;

const scope = defineScope<GrpcSettings>({
  fields: {
    ...upstreamFields,
    ...tlsClientFields,
    pass: own<BackendPass | undefined>(undefined),
    headers: inherit<readonly GrpcHeaderLine[]>([]),
    web: inherit(false),
    maxStreams: inherit(128),
  },
  directives: {
    ...upstreamDirectives('grpc'),
    ...tlsClientDirectives('grpc'),
    grpc_next_upstream: { in: ANYWHERE, args: { min: 1 }, set: bits('nextUpstream', NEXT_UPSTREAM) },
    // nginx: ngx_http_grpc_pass.
    grpc_pass: {
      in: In.LOCATION | In.LOCATION_IF,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.pass !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.pass = readBackendPass(ctx, 'grpc', SCHEMES);
        if (conf.pass.fixed !== undefined) {
          const info = ctx.block.info as LocationInfo;
          info.backend = conf.pass.fixed;
          info.grpc = true;
        }
      },
    },
    grpc_set_header: {
      in: ANYWHERE,
      args: 2,
      set(conf, node, ctx) {
        const [name, value] = node.args as [string, string];
        conf.headers = append(conf.headers, { name, value: new LateValue(value, ctx) });
      },
    },
    grpc_web: { in: ANYWHERE, args: 'flag', set: flag('web') },
    grpc_max_streams: { in: ANYWHERE, args: 1, set: int('maxStreams', 1) },
  },
  finish(conf, parent, place) {
    finishUpstream('grpc', conf, place);
    // `if` and `limit_except` go on with their location's backend. nginx: the noname part of ngx_http_grpc_merge_loc_conf.
    if (place.nameless && conf.pass === undefined && parent !== undefined) {
      conf.pass = parent.pass;
    }
  },
  link(conf, ctx, place) {
    for (const { value } of conf.headers) {
      value.compile(ctx, place);
    }
    if (conf.pass !== undefined && mayUseTls(conf.pass)) {
      linkTlsClient('grpc', conf, ctx);
    }
  },
});

/** Passes requests on to gRPC servers. nginx: ngx_http_grpc_module. */
export const grpcModule = defineModule({
  name: 'grpc',
  location: scope,
  variables: [{ name: 'grpc_status', cacheable: false, get: grpcStatus }],
  handler: (conf, env, location) => (conf.pass === undefined ? undefined : grpcHandler(conf, env, location)),
});
