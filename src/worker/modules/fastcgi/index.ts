import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag, text } from '../../../shared/config/slots.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import { purgeHandler } from '../../cache/purge-answer.js';
import { cgiHandler, HIDDEN_BY_CGI, RequestParams } from '../../cgi/handler.js';
import { type CgiSettings, cgiDirectives, cgiFields, finishCgi, linkCgi } from '../../cgi/settings.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { FastcgiExchange } from './exchange.js';
import { PAIR } from './records.js';
import { pathInfo, scriptName, scriptSlot } from './split.js';

/** All `fastcgi_*` settings of a location. nginx: ngx_http_fastcgi_loc_conf_t. */
interface FastcgiSettings extends CgiSettings {
  index: string;
  split: RegexValue<Request> | undefined;
  keepConnection: boolean;
  catchStderr: readonly string[];
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<FastcgiSettings>({
  fields: {
    ...cgiFields,
    index: inherit(''),
    split: inherit<RegexValue<Request> | undefined>(undefined),
    keepConnection: inherit(false),
    catchStderr: inherit<readonly string[]>([]),
  },
  directives: {
    ...cgiDirectives('fastcgi'),
    fastcgi_index: { in: ANYWHERE, args: 1, set: text('index') },
    // nginx: ngx_http_fastcgi_split_path_info.
    fastcgi_split_path_info: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        const regex = ctx.regex(node.args[0]!, false);
        if (regex.captures !== 2) {
          ctx.fail(`pattern "${node.args[0]}" must have 2 captures`, { arg: 0 });
        }
        conf.split = regex;
      },
    },
    fastcgi_keep_conn: { in: ANYWHERE, args: 'flag', set: flag('keepConnection') },
    fastcgi_catch_stderr: {
      in: ANYWHERE,
      args: 1,
      set(conf, node) {
        conf.catchStderr = append(conf.catchStderr, node.args[0]!);
      },
    },
  },
  finish: (conf, parent, place) => finishCgi('fastcgi', conf, parent, place),
  link: (conf, ctx, place) => linkCgi('fastcgi', conf, ctx, place),
});

/** Passes requests on to FastCGI responders. nginx: ngx_http_fastcgi_module. */
export const fastcgiModule = defineModule({
  name: 'fastcgi',
  location: scope,
  slot: scriptSlot,
  variables: [
    { name: 'fastcgi_script_name', cacheable: false, get: (r) => scriptName(r) },
    { name: 'fastcgi_path_info', cacheable: false, get: (r) => pathInfo(r) },
  ],
  handler(conf, env, location) {
    if (conf.pass === undefined) {
      return purgeHandler('fastcgi', conf.cachePurgeTarget, env, location);
    }
    const plan = {
      params: new RequestParams(conf, location, PAIR),
      keepConnection: conf.keepConnection,
      catchStderr: conf.catchStderr,
      passBody: conf.passRequestBody,
    };
    return cgiHandler(env, location, {
      family: 'fastcgi',
      settings: conf,
      pass: conf.pass,
      hidden: HIDDEN_BY_CGI,
      chunkedBodies: true,
      exchange: () => new FastcgiExchange(plan),
    });
  },
});
