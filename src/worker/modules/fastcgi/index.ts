import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { flag, text } from '../../../shared/config/slots.js';
import type { RegexValue } from '../../../shared/value/value.js';
import type { Request } from '../../http/request.js';
import { defineModule, defineScope } from '../../module.js';
import { type BackendPass, readBackendPass } from '../../upstream/cgi/backend-pass.js';
import { cgiHandler, HIDDEN_BY_CGI } from '../../upstream/cgi/handler.js';
import { compileParams, nameDefaultVariables, type ParamSource, readParam } from '../../upstream/cgi/params.js';
import { finishUpstream, linkUpstream, upstreamDirectives, upstreamFields } from '../../upstream/directives.js';
import type { UpstreamSettings } from '../../upstream/settings.js';
import { FastcgiExchange } from './exchange.js';
import { pathInfo, scriptName } from './split.js';

/** All `fastcgi_*` settings of a location. nginx: ngx_http_fastcgi_loc_conf_t. */
export interface FastcgiSettings extends UpstreamSettings {
  pass: BackendPass | undefined;
  params: readonly ParamSource[];
  index: string;
  split: RegexValue<Request> | undefined;
  keepConnection: boolean;
  catchStderr: readonly string[];
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<FastcgiSettings>({
  fields: {
    ...upstreamFields,
    pass: own<BackendPass | undefined>(undefined),
    params: inherit<readonly ParamSource[]>([]),
    index: inherit(''),
    split: inherit<RegexValue<Request> | undefined>(undefined),
    keepConnection: inherit(false),
    catchStderr: inherit<readonly string[]>([]),
  },
  directives: {
    ...upstreamDirectives('fastcgi'),
    fastcgi_pass: {
      in: In.LOCATION | In.LOCATION_IF,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.pass !== undefined) ctx.reject('is duplicate');
        nameDefaultVariables(ctx.variables);
        conf.pass = readBackendPass(ctx, 'fastcgi');
      },
    },
    fastcgi_param: {
      in: ANYWHERE,
      args: [2, 3],
      set(conf, _node, ctx) {
        conf.params = [...(conf.params ?? []), readParam(ctx)];
      },
    },
    fastcgi_index: { in: ANYWHERE, args: 1, set: text('index') },
    // nginx: ngx_http_fastcgi_split_path_info.
    fastcgi_split_path_info: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        const regex = ctx.regex(node.args[0]!, false);
        if (regex.captures !== 2) ctx.fail(`pattern "${node.args[0]}" must have 2 captures`, { arg: 0 });
        conf.split = regex;
      },
    },
    fastcgi_keep_conn: { in: ANYWHERE, args: 'flag', set: flag('keepConnection') },
    fastcgi_catch_stderr: {
      in: ANYWHERE,
      args: 1,
      set(conf, node) {
        conf.catchStderr = [...(conf.catchStderr ?? []), node.args[0]!];
      },
    },
  },
  finish(conf, parent, place) {
    finishUpstream('fastcgi', conf, place);
    // `if` goes on with its location's backend. nginx: the noname part of ngx_http_fastcgi_merge_loc_conf.
    if (place.nameless && conf.pass === undefined && parent !== undefined) conf.pass = parent.pass;
  },
  link: (conf, ctx, place) => linkUpstream('fastcgi', conf, ctx, place),
});

/** Passes requests on to FastCGI responders. nginx: ngx_http_fastcgi_module. */
export const fastcgiModule = defineModule({
  name: 'fastcgi',
  location: scope,
  variables: [
    { name: 'fastcgi_script_name', cacheable: false, get: (r) => scriptName(r) },
    { name: 'fastcgi_path_info', cacheable: false, get: (r) => pathInfo(r) },
  ],
  handler(conf, env, location) {
    if (conf.pass === undefined) return undefined;
    const plan = {
      params: compileParams(conf.params, location.server.http.variables),
      cacheParams: undefined,
      keepConnection: conf.keepConnection,
      catchStderr: conf.catchStderr,
      passHeaders: conf.passRequestHeaders,
      passBody: conf.passRequestBody,
    };
    return cgiHandler(env, location, {
      module: 'fastcgi',
      scheme: 'fastcgi://',
      settings: conf,
      pass: conf.pass,
      hidden: HIDDEN_BY_CGI,
      exchange: () => new FastcgiExchange(plan),
    });
  },
  installLocation(conf, location) {
    location.settings.fastcgi = { index: conf.index, split: conf.split };
  },
});
