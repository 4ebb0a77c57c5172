import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { defaultTempPath } from '../../../shared/config/paths.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { historyOf, StatusHistory } from '../../status/history.js';
import { serveDashboard } from './handler.js';
import { configurationOutline } from './outline.js';

/** The name of the file in the folder of `status_history`. */
const FILE = 'history.sqlite';

const mainScope = defineScope<{ path: string | undefined; shown: boolean }>({
  fields: { path: own<string | undefined>(undefined), shown: own(false) },
  directives: {
    // Ours. Syntax: status_history path | off;
    status_history: {
      in: In.HTTP,
      args: 1,
      set(conf, node, ctx) {
        if (conf.path !== undefined) {
          ctx.reject('is duplicate');
        }
        const path = node.args[0]!;
        conf.path = path === 'off' ? '' : ctx.path(path);
      },
    },
  },
  finish(conf, _parent, { prefix }) {
    if (conf.shown) {
      conf.path ??= defaultTempPath('status_history', prefix);
    }
  },
  link({ path, shown }, ctx) {
    if (shown && path !== undefined && path !== '') {
      ctx.folder(path);
    }
  },
});

const scope = defineScope<{ write: boolean; config: Block | undefined }>({
  // The whole configuration, where it is shown.
  fields: { write: own(false), config: own<Block | undefined>(undefined) },
  directives: {
    // Ours. Syntax: dashboard [write=on|off] [config=on|off];
    dashboard: {
      in: In.LOCATION,
      args: [0, 1, 2],
      set(conf, node, ctx) {
        for (const [arg, parameter] of node.args.entries()) {
          const [, name, value] = /^(write|config)=(on|off)$/.exec(parameter) ?? ctx.fail(`invalid parameter "${parameter}"`, { arg });
          if (name === 'write') {
            conf.write = value === 'on';
          } else {
            conf.config = value === 'on' ? rootOf(ctx.block) : undefined;
          }
        }
        ctx.conf(mainScope).shown = true;
        claimContent(ctx, 'dashboard');
        (ctx.block.info as LocationInfo).autoRedirect = true;
      },
    },
  },
});

function rootOf(block: Block): Block {
  return block.parent === undefined ? block : rootOf(block.parent);
}

/** Serves a page that shows what the server does now, and did in the last day. */
export const dashboardModule = defineModule({
  name: 'dashboard',
  main: mainScope,
  location: scope,
  handler: ({ write, config }, env, location) =>
    serveDashboard(
      { write, outline: config === undefined ? undefined : configurationOutline(config) },
      { http: location.server.http, env },
      location,
    ),
  installMain({ path, shown }, http, env) {
    if (!shown) {
      return;
    }
    http.explains = true;
    if (path === undefined || path === '' || env.rehearsing) {
      return;
    }
    const history = new StatusHistory(`${path.replace(/\/$/, '')}/${FILE}`, { http, env });
    historyOf(http).history = history;
    env.onClose(() => history.close());
    if (env.slot === 0) {
      env.onDrain(() => history.stop());
      setImmediate(() => history.start());
    }
  },
});
