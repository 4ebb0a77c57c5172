import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import type { WorkerEnv } from '../../env.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import type { StreamServer } from '../../stream/session/runtime.js';
import { groupChecks } from '../../upstream/health/group-checks.js';
import { matchScope } from '../../upstream/health/match-scope.js';
import { linkChecks, readCheckSettings } from '../../upstream/health/settings.js';
import { type StreamServerInfo, streamBackendSlot } from '../../upstream/health/stream-backend.js';
import { StreamMatch } from './match.js';
import type { StreamCheckPlan } from './plan.js';
import type { StreamCheckSettings } from './settings.js';
import { TcpCheck } from './tcp-check.js';
import { UdpCheck } from './udp-check.js';

const matches = matchScope(In.STREAM, () => new StreamMatch());

interface Settings {
  checks: readonly StreamCheckSettings[];
  /** Milliseconds. */
  timeout: number;
}

const checks = defineSharedScope<Settings>({
  fields: { checks: own<readonly StreamCheckSettings[]>([]), timeout: inherit(5000) },
  directives: {
    // NGINX Plus. Syntax: health_check [parameters];
    health_check: {
      in: In.STREAM_SERVER,
      args: 'any',
      set(conf, _node, ctx) {
        conf.checks = append(conf.checks, readCheck(ctx));
      },
    },
    // NGINX Plus. Syntax: health_check_timeout timeout;
    health_check_timeout: { in: In.STREAM | In.STREAM_SERVER, args: 1, set: msec('timeout') },
  },
  link(conf, ctx, { block }) {
    if (conf.checks.length > 0) {
      const { backend } = block.info as StreamServerInfo;
      linkChecks(conf.checks, ctx, block, backend, (stream, match) => ctx.settings(matches, stream).all.has(match));
    }
  },
});

function readCheck(ctx: SharedContext): StreamCheckSettings {
  let udp = false;
  const check = readCheckSettings(ctx, ({ text }) => {
    udp ||= text === 'udp';
    return text === 'udp';
  });
  return { ...check, udp };
}

/** Prepares the checks of a server, whose backends are known once the whole configuration is made. */
function install({ checks: all, timeout }: Readonly<Settings>, server: StreamServer, env: WorkerEnv): void {
  const { stream } = server;
  setImmediate(() => {
    const backend = server.conf(streamBackendSlot)!;
    for (const settings of all) {
      const match = settings.match === '' ? undefined : stream.mainSettings(matches).all.get(settings.match);
      const plan: StreamCheckPlan = { settings, backend, timeout, match };
      groupChecks(stream, backend.group, settings.zone, `stream ${backend.group.name}`, env).add({
        settings,
        check: (peer, verdict, result) =>
          settings.udp ? new UdpCheck(plan, peer, verdict, result) : new TcpCheck(plan, peer, verdict, result),
      });
    }
  });
}

/** Asks the backends of `stream`, of the server's own accord, whether they are well. */
export const streamHealthCheckModule = defineModule({
  name: 'stream_health_check',
  main: matches,
  location: checks,
  stream: {
    installLocation(conf, server, env) {
      if (conf.checks.length > 0) {
        install(conf, server, env);
      }
    },
  },
});
