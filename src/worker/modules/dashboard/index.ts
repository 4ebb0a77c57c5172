import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { defaultTempPath } from '../../../shared/config/paths.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { historyOf, StatusHistory } from '../../status/history.js';
import { writeParameter } from '../../status/write-parameter.js';
import { serveDashboard } from './handler.js';

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

const scope = defineScope<{ write: boolean }>({
  fields: { write: own(false) },
  directives: {
    // Ours. Syntax: dashboard [write=on|off];
    dashboard: {
      in: In.LOCATION,
      args: [0, 1],
      set(conf, _node, ctx) {
        conf.write = writeParameter(ctx);
        ctx.conf(mainScope).shown = true;
        claimContent(ctx, 'dashboard');
        (ctx.block.info as LocationInfo).autoRedirect = true;
      },
    },
  },
});

/** Serves a page that shows what the server does now, and did in the last day. */
export const dashboardModule = defineModule({
  name: 'dashboard',
  main: mainScope,
  location: scope,
  handler: ({ write }, env, location) => serveDashboard(write, { http: location.server.http, env }, location),
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
