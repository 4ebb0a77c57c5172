import { In } from '../../../shared/config/context.js';
import { type Directive, inherit, type SettingField } from '../../../shared/config/define.js';
import { flag, int, oneOf } from '../../../shared/config/slots.js';
import { ERROR, INFO, type Level, NOTICE, WARN } from '../../../shared/log/level.js';
import type { ClientTask } from '../../task/client-task.js';

/** What the settings of limits that count by a key have in common. */
export interface LimitSettings {
  logLevel: Level;
  status: number;
  dryRun: boolean;
}

/** The defaults, and how inner blocks take settings over. */
export const limitFields: { readonly [K in keyof LimitSettings]: SettingField<LimitSettings[K]> } = {
  logLevel: inherit<Level>(ERROR),
  status: inherit(503),
  dryRun: inherit(false),
};

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const levels = { info: INFO as Level, notice: NOTICE as Level, warn: WARN as Level, error: ERROR as Level };

/** The directives of these settings, under one limit's prefix; `more`: where most of them stand besides. */
export function limitDirectives(prefix: string, more = 0): { readonly [name: string]: Directive<LimitSettings, ClientTask> } {
  return {
    [`${prefix}_log_level`]: { in: ANYWHERE | more, args: 1, set: oneOf('logLevel', levels) },
    [`${prefix}_status`]: { in: ANYWHERE, args: 1, set: int('status', 400, 599) },
    [`${prefix}_dry_run`]: { in: ANYWHERE | more, args: 'flag', set: flag('dryRun') },
  };
}
