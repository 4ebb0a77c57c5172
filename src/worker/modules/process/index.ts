import { cpus } from 'node:os';
import { append } from '../../../shared/collection/append.js';
import type { ProcessConf } from '../../../shared/config/configuration.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { accepted, flag, int, msec, offset, parseInteger } from '../../../shared/config/slots.js';
import type { NetEngineChoice } from '../../../shared/net/engine/choose.js';
import { groupId, idOfUser } from '../../../shared/system/user-ids.js';
import { nativeText } from '../../../shared/text/native-text.js';
import { parseCidr } from '../../address/cidr.js';
import type { DebugRule } from '../../connections/debug-clients.js';
import { type Context, defineModule, defineScope } from '../../module.js';

/** `reload_canary`: which share of new connections the first worker of a new configuration takes (0 to 1), and for how many ms. */
type Canary = NonNullable<ProcessConf['canary']>;

/** Settings of the `main` and `events` contexts. */
export interface ProcessSettings {
  daemon: boolean;
  masterProcess: boolean;
  workerProcesses: number;
  user: string | undefined;
  group: string | undefined;
  pid: string | undefined;
  lockFile: string;
  workerConnections: number;
  rlimitNofile: number | undefined;
  rlimitCore: number | undefined;
  priority: number;
  cpuAffinity: readonly string[] | undefined;
  shutdownTimeout: number;
  workingDirectory: string | undefined;
  env: readonly string[];
  zoneDirectory: string | undefined;
  /** Folder of the configurations that served, `off`, or undefined for the default. */
  history: string | undefined;
  canary: Canary | undefined;
  compatibility: boolean;
  /** Whether certificates whose files stay as they are need not be read again by the next configuration. */
  inheritable: boolean;
  netEngine: NetEngineChoice;
  /** File that `sluice dev` keeps while the configuration is broken. */
  devReport: string | undefined;
  debugConnections: readonly DebugRule[];
}

/** The scope itself, for the code that starts a process with these settings. */
const workerConnections = int('workerConnections');

function processes(text: string, ctx: Context): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : ctx.reject('invalid value', { arg: 0 });
}

export const processScope = defineScope<ProcessSettings>({
  fields: {
    daemon: inherit(true),
    masterProcess: inherit(true),
    workerProcesses: inherit(1),
    user: inherit<string | undefined>(undefined),
    group: inherit<string | undefined>(undefined),
    pid: inherit<string | undefined>(undefined),
    lockFile: inherit('logs/nginx.lock'),
    workerConnections: inherit(512),
    rlimitNofile: inherit<number | undefined>(undefined),
    rlimitCore: inherit<number | undefined>(undefined),
    priority: inherit(0),
    cpuAffinity: inherit<readonly string[] | undefined>(undefined),
    shutdownTimeout: inherit(0),
    workingDirectory: inherit<string | undefined>(undefined),
    env: inherit<readonly string[]>([]),
    zoneDirectory: inherit<string | undefined>(undefined),
    history: inherit<string | undefined>(undefined),
    canary: inherit<Canary | undefined>(undefined),
    compatibility: inherit(false),
    inheritable: inherit(true),
    netEngine: inherit<NetEngineChoice>('auto'),
    devReport: inherit<string | undefined>(undefined),
    debugConnections: inherit<readonly DebugRule[]>([]),
  },
  directives: {
    events: {
      in: In.MAIN,
      args: 0,
      block: 'directives',
      set(_conf, node, ctx) {
        if (ctx.block.seen('events') !== undefined) {
          ctx.reject('is duplicate');
        }
        ctx.openBlock(node, In.EVENTS);
      },
    },
    daemon: { in: In.MAIN, args: 'flag', set: flag('daemon') },
    master_process: { in: In.MAIN, args: 'flag', set: flag('masterProcess') },
    nginx_compatibility: {
      in: In.MAIN,
      args: 'flag',
      set(conf, node, ctx) {
        if (conf.compatibility !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.compatibility = node.args[0]!.toLowerCase() === 'on';
        ctx.setCompatible(conf.compatibility);
      },
    },
    dev_port: {
      in: In.MAIN,
      args: 1,
      set(_conf, node, ctx) {
        const port = /^\d{1,5}$/.test(node.args[0]!) ? Number(node.args[0]) : 0;
        if (port < 1 || port > 65_535) {
          ctx.fail(`invalid port "${node.args[0]}" in "dev_port" directive`, { arg: 0 });
        }
        ctx.setDevPort(port);
      },
    },
    dev_report: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.devReport !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.devReport = ctx.path(node.args[0]!);
      },
    },
    net_engine: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.netEngine !== undefined) {
          ctx.reject('is duplicate');
        }
        const value = node.args[0]!;
        if (value === 'auto' || value === 'uring' || value === 'libuv') {
          conf.netEngine = value;
        } else {
          ctx.fail(`invalid value "${value}" in "net_engine" directive, it must be "auto", "uring" or "libuv"`, { arg: 0 });
        }
      },
    },
    zone_directory: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.zoneDirectory !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.zoneDirectory = ctx.path(node.args[0]!);
      },
    },
    configuration_history: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.history !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.history = node.args[0] === 'off' ? 'off' : ctx.path(node.args[0]!);
      },
    },
    reload_canary: {
      in: In.MAIN,
      args: 2,
      set(conf, node, ctx) {
        if (conf.canary !== undefined) {
          ctx.reject('is duplicate');
        }
        const percent = Number(/^(\d{1,2}(?:\.\d+)?)%$/.exec(node.args[0]!)?.[1]);
        if (!(percent > 0 && percent <= 50)) {
          ctx.fail(`invalid share "${node.args[0]}" in "reload_canary" directive`, {
            arg: 0,
            hint: 'it is a share such as 10%, at most 50%',
          });
        }
        const time = parseTime(node.args[1]!, 'ms') ?? 0;
        if (time === 0) {
          ctx.fail(`invalid time "${node.args[1]}" in "reload_canary" directive`, { arg: 1, hint: 'it is a time such as 30s' });
        }
        conf.canary = { share: percent / 100, time };
      },
    },
    ssl_object_cache_inheritable: { in: In.MAIN, args: 'flag', set: flag('inheritable') },
    worker_processes: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.workerProcesses !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.workerProcesses = node.args[0] === 'auto' ? cpus().length : processes(node.args[0]!, ctx);
      },
    },
    user: {
      in: In.MAIN,
      args: [1, 2],
      set(conf, node, ctx) {
        if (conf.user !== undefined) {
          ctx.reject('is duplicate');
        }
        if (process.geteuid?.() !== 0) {
          ctx.warn('the "user" directive makes sense only if the master process runs with super-user privileges, ignored');
          return;
        }
        const [user, group = user] = node.args as readonly [string, string?];
        if (idOfUser(nativeText(user)) === undefined) {
          ctx.fail(`getpwnam("${user}") failed`, { arg: 0 });
        }
        if (groupId(nativeText(group)) === undefined) {
          ctx.fail(`getgrnam("${group}") failed`, { arg: node.args.length - 1 });
        }
        conf.user = user;
        conf.group = group;
      },
    },
    pid: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.pid !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.pid = ctx.path(node.args[0]!);
      },
    },
    lock_file: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.lockFile !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.lockFile = ctx.path(node.args[0]!);
      },
    },
    worker_rlimit_nofile: { in: In.MAIN, args: 1, set: int('rlimitNofile') },
    worker_rlimit_core: { in: In.MAIN, args: 1, set: offset('rlimitCore') },
    worker_priority: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.priority !== undefined) {
          ctx.reject('is duplicate');
        }
        const [, sign, digits] = /^(-?)\+?(\d+)$/.exec(node.args[0]!) ?? ctx.reject('invalid number', { arg: 0 });
        conf.priority = sign === '-' ? -Number(digits) : Number(digits);
      },
    },
    worker_cpu_affinity: {
      in: In.MAIN,
      args: { min: 1 },
      set(conf, node, ctx) {
        if (conf.cpuAffinity !== undefined) {
          ctx.reject('is duplicate');
        }
        const masks = node.args[0] === 'auto' ? node.args.slice(1) : node.args;
        for (const [i, mask] of masks.entries()) {
          // nginx reads it from its end.
          const bad = /[^01 ](?=[01 ]*$)/.exec(mask);
          if (bad !== null) {
            ctx.fail(`invalid character "${bad[0]}" in "worker_cpu_affinity"`, { arg: i });
          }
          if (mask.length > 1024) {
            ctx.fail('"worker_cpu_affinity" supports up to 1024 CPUs only', { arg: i });
          }
        }
        if (node.args[0] === 'auto' && node.args.length > 2) {
          ctx.fail('invalid number of arguments in "worker_cpu_affinity" directive');
        }
        conf.cpuAffinity = node.args;
      },
    },
    worker_shutdown_timeout: { in: In.MAIN, args: 1, set: msec('shutdownTimeout') },
    working_directory: {
      in: In.MAIN,
      args: 1,
      set(conf, node, ctx) {
        if (conf.workingDirectory !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.workingDirectory = node.args[0]!;
      },
    },
    env: {
      in: In.MAIN,
      args: 1,
      set(conf, node) {
        conf.env = append(conf.env, node.args[0]!);
      },
    },
    worker_connections: {
      in: In.EVENTS,
      args: 1,
      set(conf, node, ctx) {
        const [text] = node.args;
        if (conf.workerConnections === undefined && !/^\d{1,15}$/.test(text!)) {
          ctx.fail(`invalid number "${text}"`, { arg: 0 });
        }
        workerConnections(conf, node, ctx);
      },
    },
    debug_connection: {
      in: In.EVENTS,
      args: 1,
      set(conf, node, ctx) {
        conf.debugConnections = append(conf.debugConnections, debugRule(node.args[0]!, ctx));
      },
    },
    use: {
      in: In.EVENTS,
      args: 1,
      set(_conf, node, ctx) {
        const known = ['epoll', 'poll', 'select', 'kqueue', 'eventport', '/dev/poll', 'rtsig'];
        if (!['epoll', 'poll', 'select'].includes(node.args[0]!)) {
          ctx.fail(`invalid event type "${node.args[0]}"`, {
            arg: 0,
            hint: known.includes(node.args[0]!) ? 'this system has epoll' : 'Node chooses by itself; leave the line out',
          });
        }
      },
    },
    multi_accept: { in: In.EVENTS, args: 'flag', set: accepted() },
    accept_mutex: { in: In.EVENTS, args: 'flag', set: accepted() },
    accept_mutex_delay: { in: In.EVENTS, args: 1, set: accepted() },
    worker_aio_requests: { in: In.EVENTS, args: 1, set: accepted((ctx) => void parseInteger(ctx.node.args[0]!, ctx, 1)) },
    pcre_jit: { in: In.MAIN, args: 'flag', set: accepted() },
    timer_resolution: { in: In.MAIN, args: 1, set: accepted() },
    debug_points: { in: In.MAIN, args: 1, set: accepted() },
    thread_pool: { in: In.MAIN, args: [2, 3], set: accepted(undefined, true) },
    ssl_engine: {
      in: In.MAIN,
      args: 1,
      set(_conf, node, ctx) {
        ctx.fail(`"ssl_engine" directive failed: engine "${node.args[0]}" is not available`);
      },
    },
    load_module: {
      in: In.MAIN,
      args: 1,
      set(_conf, node, ctx) {
        const path = ctx.path(node.args[0]!);
        if (ctx.block.seen('events') !== undefined || ctx.block.seen('http') !== undefined) {
          ctx.reject('is specified too late');
        }
        ctx.nativeModule(path);
      },
    },
  },
  link({ canary, masterProcess }, ctx) {
    if (canary !== undefined && !masterProcess) {
      ctx.warn('"reload_canary" has no effect with "master_process off"', null);
    }
  },
});

/** nginx: ngx_event_debug_connection. */
function debugRule(text: string, ctx: Context): DebugRule {
  if (text === 'unix:') {
    return 'unix';
  }
  const network = parseCidr(text);
  if (network === undefined) {
    return ctx.host(text, 'debug_connection');
  }
  if (network.lowBits) {
    ctx.warn(`low address bits of ${text} are meaningless`, { arg: 0 });
  }
  return network;
}

/** The settings of the processes themselves: main context and `events`. nginx: ngx_core_module, ngx_events_module. */
export const processModule = defineModule({ name: 'process', process: processScope });
