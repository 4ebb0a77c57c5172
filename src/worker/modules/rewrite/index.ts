import { append } from '../../../shared/collection/append.js';
import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseNumber } from '../../../shared/config/language/units.js';
import { flag } from '../../../shared/config/slots.js';
import { WARN } from '../../../shared/log/level.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { DECLINED } from '../../task/codes.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { parseCondition } from './condition.js';
import { scriptValue } from './length-pass.js';
import { compileSteps, type RewriteStep } from './program.js';
import { RewriteTarget } from './target.js';

interface Settings {
  steps: readonly RewriteStep[];
  rewriteLog: boolean;
  uninitializedWarn: boolean;
}

const INSIDE = In.SERVER | In.SERVER_IF | In.LOCATION | In.LOCATION_IF;
const ANYWHERE = In.HTTP | INSIDE;

function add(conf: Partial<Settings>, step: RewriteStep): void {
  conf.steps = append(conf.steps, step);
}

const scope = defineScope<Settings>({
  fields: { steps: own<readonly RewriteStep[]>([]), rewriteLog: inherit(false), uninitializedWarn: inherit(true) },
  directives: {
    // nginx: ngx_http_rewrite_set.
    set: {
      in: INSIDE,
      args: 2,
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (!name.startsWith('$')) {
          ctx.fail(`invalid variable name "${name}"`, { arg: 0, hint: `write \`$${name}\`` });
        }
        if (name.length === 1) {
          ctx.fail(`invalid variable name "${name}"`, { arg: 0 });
        }
        const variable = defineVariable(name.slice(1), ctx);
        add(conf, { kind: 'set', pos: node.pos, slot: variable, name: name.slice(1), value: scriptValue(node.args[1]!, ctx) });
      },
    },
    // nginx: ngx_http_rewrite_if.
    if: {
      in: In.SERVER | In.LOCATION,
      args: { min: 1 },
      block: 'directives',
      set(conf, node, ctx) {
        const condition = parseCondition(node, ctx);
        const outer = ctx.block.info as LocationInfo;
        const info: LocationInfo = { kind: 'nameless', name: outer.name };
        const block = ctx.openBlock(node, ctx.block.context === In.SERVER ? In.SERVER_IF : In.LOCATION_IF, info);
        add(conf, { kind: 'if', pos: node.pos, text: node.args.join(' '), condition, block });
      },
    },
    break: { in: INSIDE, args: 0, set: (conf, node) => add(conf, { kind: 'break', pos: node.pos }) },
    return: { in: INSIDE, args: [1, 2], set: (conf, node, ctx) => add(conf, parseReturn(node, ctx)) },
    rewrite: { in: INSIDE, args: [2, 3], set: (conf, node, ctx) => add(conf, parseRewrite(node, ctx)) },
    rewrite_log: { in: ANYWHERE, args: 'flag', set: flag('rewriteLog') },
    uninitialized_variable_warn: { in: ANYWHERE, args: 'flag', set: flag('uninitializedWarn') },
  },
});

const slot = new LocationSlot<Settings>();

/** Makes a variable assignable; returns its slot. */
function defineVariable(name: string, ctx: Context): number {
  const defined = ctx.variables.define({
    name,
    changeable: true,
    weak: true,
    get(r) {
      // Which block's setting counts is known only now: that of the location the request is in.
      if (r.location.conf(slot).uninitializedWarn) {
        r.log(WARN, `using uninitialized "${name}" variable`);
      }
      return '';
    },
  });
  if (!defined && ctx.variables.definition(name)?.set === undefined) {
    ctx.fail(`the duplicate "${name}" variable`, { arg: 0 });
  }
  return ctx.variables.slot(name);
}

// nginx: ngx_http_rewrite_return.
function parseReturn(node: DirectiveNode, ctx: Context): RewriteStep {
  const [code, text] = node.args as [string, string | undefined];
  if (parseNumber(code) === undefined) {
    if (text !== undefined || !/^(https?:\/\/|\$scheme)/i.test(code)) {
      ctx.fail(`invalid return code "${code}"`, { arg: 0 });
    }
    return { kind: 'return', pos: node.pos, status: 302, text: ctx.complex(code), reason: '' };
  }
  const status = Number(code);
  if (status > 999) {
    ctx.fail(`invalid return code "${code}"`, { arg: 0 });
  }
  const reason = `"return ${code}" in ${node.pos.file}:${node.endLine}`;
  return { kind: 'return', pos: node.pos, status, text: text === undefined ? undefined : ctx.complex(text), reason };
}

// nginx: ngx_http_rewrite.
function parseRewrite(node: DirectiveNode, ctx: Context): RewriteStep {
  const [pattern, replacement, option] = node.args as [string, string, string | undefined];
  const regex = ctx.regex(pattern, false);
  if (replacement === '') {
    ctx.fail('empty replacement', { arg: 1 });
  }
  let redirect = /^(https?:\/\/|\$scheme)/i.test(replacement) ? 302 : 0;
  let last = redirect !== 0;
  let breakCycle = false;
  if (option === 'last') {
    last = true;
  } else if (option === 'break') {
    breakCycle = true;
    last = true;
  } else if (option === 'redirect' || option === 'permanent') {
    redirect = option === 'redirect' ? 302 : 301;
    last = true;
  } else if (option !== undefined) {
    ctx.fail(`invalid parameter "${option}"`, { arg: 2, hint: 'it is one of last, break, redirect, permanent' });
  }
  const addArgs = !replacement.endsWith('?');
  const target = new RewriteTarget(addArgs ? replacement : replacement.slice(0, -1), redirect !== 0, ctx);
  return { kind: 'rewrite', pos: node.pos, regex, target, redirect, addArgs, last, breakCycle };
}

/** `rewrite`, `if`, `set`, `return` and `break`: a small program in each server and location. nginx: ngx_http_rewrite_module. */
export const rewriteModule = defineModule({
  name: 'rewrite',
  location: scope,
  phases: {
    serverRewrite: (conf, _env, location) => (location.info.kind === 'root' ? program(conf, location) : undefined),
    // A server's own steps ran in its phase; a request that no location took stays outside all of them.
    rewrite: (conf, _env, location) => (location.info.kind === 'root' ? undefined : program(conf, location)),
  },
  slot,
});

const nothing: PhaseHandler = () => DECLINED;

function program(conf: Readonly<Settings>, location: LocationRuntime) {
  if (conf.steps.length === 0) {
    // The phase goes on behind the program of the location that led into this block: it has one, too, even if with nothing in it.
    return location.info.kind === 'nameless' ? nothing : undefined;
  }
  const { http } = location.server;
  const locationOf = (block: Block): LocationRuntime | undefined =>
    block.context === In.SERVER_IF ? undefined : http.locationOf.get(block);
  return compileSteps(conf.steps, {
    rewriteLog: conf.rewriteLog,
    stepsOf: (block) => http.settings(scope, block).steps,
    locationOf,
    assign: (r, slot, value) => http.variables.assign(r, slot, value),
  });
}
