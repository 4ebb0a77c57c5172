import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import type { LinkContext } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import type { SharedContext } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { groupScope, type UpstreamInfo } from '../group/group-config.js';
import { HEALTH_BYTES, HEALTH_ZONE, type HealthZoneRef, healthZone } from '../group/health-zone.js';

/** What every `health_check` line says. Times are milliseconds. */
export interface CheckSettings {
  readonly interval: number;
  /** Each check is delayed by a random part of this. */
  readonly jitter: number;
  /** Checks in a row that make a peer unhealthy, or healthy again. */
  readonly fails: number;
  readonly passes: number;
  /** Name of a `match` block; empty where there is none. */
  readonly match: string;
  /** A peer gets no request before its first check is over. */
  readonly mandatory: boolean;
  /** A reload does not make a healthy peer wait. */
  readonly persistent: boolean;
  /** Port to ask instead of the peer's own; 0: the peer's. */
  readonly port: number;
  readonly zone: HealthZoneRef;
}

/** One parameter of a `health_check` line. */
export interface CheckParameter {
  readonly text: string;
  readonly arg: number;
  /** What stands before `=` with it, or all of it. */
  readonly name: string;
  readonly value: string;
  invalid(): never;
  count(): number;
  time(): number;
}

/** Reads a `health_check` line. `other` takes a parameter that not every protocol has, and returns false if it does not know it. */
export function readCheckSettings(ctx: SharedContext, other: (parameter: CheckParameter) => boolean): CheckSettings {
  const check: { -readonly [K in keyof CheckSettings]: CheckSettings[K] } = {
    interval: 5000,
    jitter: 0,
    fails: 1,
    passes: 1,
    match: '',
    mandatory: false,
    persistent: false,
    port: 0,
    zone: ctx.zone(healthZone, HEALTH_ZONE, { bytes: HEALTH_BYTES, data: undefined }),
  };
  ctx.node.args.forEach((text, arg) => {
    const invalid = (): never => ctx.fail(`invalid parameter "${text}"`, { arg });
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals + 1);
    const value = text.slice(equals + 1);
    const count = (): number => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : invalid());
    const time = (): number => parseTime(value, 'ms') ?? invalid();
    switch (name) {
      case 'interval=':
        check.interval = time() || invalid();
        break;
      case 'jitter=':
        check.jitter = time();
        break;
      case 'fails=':
        check.fails = count();
        break;
      case 'passes=':
        check.passes = count();
        break;
      case 'match=':
        check.match = value || invalid();
        break;
      case 'port=':
        check.port = count() > 65535 ? invalid() : count();
        break;
      case 'mandatory':
        check.mandatory = true;
        break;
      case 'persistent':
        if (ctx.node.args[arg - 1] !== 'mandatory') {
          invalid();
        }
        check.persistent = true;
        break;
      default:
        if (!other({ text, arg, name, value, invalid, count, time })) {
          invalid();
        }
    }
  });
  return check;
}

/** Checks that the lines of a block can be done: its backends are a group with a zone, and the `match` blocks are there. */
export function linkChecks(
  all: readonly CheckSettings[],
  ctx: LinkContext<ClientTask>,
  block: Block,
  backend: { readonly host: string } | undefined,
  known: (main: Block, match: string) => boolean,
): void {
  if (backend === undefined) {
    const [pass, place] = block.context === In.STREAM_SERVER ? ['"proxy_pass"', 'server'] : ['"proxy_pass" or "grpc_pass"', 'location'];
    ctx.fail(`"health_check" requires a ${pass} without variables in the same ${place}`, block.node?.pos);
  }
  let main = block;
  while (main.parent !== undefined && main.context !== In.HTTP && main.context !== In.STREAM) {
    main = main.parent;
  }
  const name = backend!.host.toLowerCase();
  const groups = main.children.filter(({ context }) => context === In.UPSTREAM || context === In.STREAM_UPSTREAM);
  const group = groups.find(({ info }) => (info as UpstreamInfo).name.toLowerCase() === name);
  if (group === undefined || ctx.settings(groupScope, group).zone === undefined) {
    ctx.fail(`"health_check" requires upstream "${backend!.host}" to be in shared memory`, block.node?.pos);
  }
  for (const { match } of all) {
    if (match !== '' && !known(main, match)) {
      ctx.fail(`match "${match}" is not defined`, block.node?.pos);
    }
  }
}
