import type { Block } from '../../../shared/config/block.js';
import type { Pos } from '../../../shared/config/language/ast.js';
import { DEBUG, ERROR, NOTICE } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import { setContentType } from '../../http/headers/content-type.js';
import { noteReason, noteReasonText } from '../../http/request/error-reason.js';
import { enterLocation } from '../../http/request/find-config.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import { extension } from '../../http/request/internal-redirect.js';
import { locationText } from '../../http/request/line-text.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { respondBuffer } from '../../http/request/respond.js';
import { unescapeUri } from '../../http/syntax/uri-escape.js';
import { asStatus, DECLINED, type Result } from '../../task/codes.js';
import type { Condition } from './condition.js';
import type { RewriteTarget } from './target.js';

/** What a directive of the module does at request time. The directives of a block run in the order of the text. */
export type RewriteStep =
  | { readonly kind: 'set'; readonly pos: Pos; readonly slot: number; readonly name: string; readonly value: ComplexValue<Request> }
  | { readonly kind: 'if'; readonly pos: Pos; readonly text: string; readonly condition: Condition; readonly block: Block }
  | { readonly kind: 'break'; readonly pos: Pos }
  | {
      readonly kind: 'return';
      readonly pos: Pos;
      readonly status: number;
      readonly text: ComplexValue<Request> | undefined;
      readonly reason: string;
    }
  | {
      readonly kind: 'rewrite';
      readonly pos: Pos;
      readonly regex: RegexValue<Request>;
      readonly target: RewriteTarget;
      /** Status of a redirect, 0 for a rewrite inside the server. */
      readonly redirect: number;
      readonly addArgs: boolean;
      readonly last: boolean;
      readonly breakCycle: boolean;
    };

/** Where a program goes on. */
const NEXT = 0;
const STOP = 1;

/** One block's program: runs steps until one stops it; `result` on the run says with which code. */
type Op = (r: Request, run: Run) => number;

class Run {
  result: Result = DECLINED;
}

/** What a program needs to know about its block. */
export interface ProgramOptions {
  readonly rewriteLog: boolean;
  /** The steps written in a nested block, and the location it compiles to; none for `if` in a server, which switches nothing. */
  stepsOf(block: Block): readonly RewriteStep[];
  locationOf(block: Block): LocationRuntime | undefined;
  assign(r: Request, slot: number, value: string): void;
}

/** Compiles the steps of a server or location to its rewrite handler. nginx: ngx_http_rewrite_handler. */
export function compileSteps(steps: readonly RewriteStep[], options: ProgramOptions): PhaseHandler {
  const ops = compile(steps, options);
  return (r) => {
    const run = new Run();
    try {
      runOps(ops, r, run);
    } catch (error) {
      r.log(ERROR, (error as Error).message);
      return 500;
    }
    return run.result;
  };
}

function runOps(ops: readonly Op[], r: Request, run: Run): number {
  for (let i = 0; i < ops.length; i++) {
    if (ops[i]!(r, run) === STOP) {
      return STOP;
    }
  }
  return NEXT;
}

function compile(steps: readonly RewriteStep[], options: ProgramOptions): Op[] {
  return steps.map((step) => compileStep(step, options));
}

function compileStep(step: RewriteStep, options: ProgramOptions): Op {
  switch (step.kind) {
    case 'set': {
      const { slot, name, value, pos } = step;
      return (r) => {
        const text = value.eval(r);
        r.trace?.add(r, 'variable', `set $${name} to "${text}"`, pos, { name, value: text });
        if (r.debugging) {
          r.log(DEBUG, `http script set $${name}: "${text}"`);
        }
        options.assign(r, slot, text);
        return NEXT;
      };
    }
    case 'if': {
      const { condition, block, pos, text } = step;
      const inside = compile(options.stepsOf(block), options);
      const location = options.locationOf(block);
      return (r, run) => {
        const { debugging } = r;
        const holds = condition(r, options.rewriteLog || debugging);
        if (debugging) {
          r.log(DEBUG, `http script if${holds === true ? '' : ': false'}`);
        }
        r.trace?.add(r, 'rewrite', `if ${text} ${holds === true ? 'holds' : 'does not hold'}`, pos, { holds });
        if (holds === undefined) {
          run.result = 500;
          return STOP;
        }
        if (!holds) {
          return NEXT;
        }
        if (location !== undefined) {
          enterLocation(r, location);
        }
        return runOps(inside, r, run);
      };
    }
    case 'break':
      return (r) => {
        r.trace?.add(r, 'rewrite', 'break', step.pos);
        if (r.uriChanged) {
          r.uriChanged = false;
          r.validLocation = false;
        }
        return STOP;
      };
    case 'return': {
      const { status, text, reason, pos } = step;
      if (text === undefined && status >= 400) {
        return (r, run) => {
          r.trace?.add(r, 'answer', `return ${status}`, pos, { status });
          if (r.http.explains) {
            noteReasonText(r, reason);
          }
          run.result = asStatus(status);
          return STOP;
        };
      }
      const body = text?.constant === undefined ? undefined : Buffer.from(text.constant, 'latin1');
      return (r, run) => {
        if (r.trace !== null) {
          const shown = text === undefined ? '' : ` ${isRedirect(status) ? text.eval(r) : `"${text.text}"`}`;
          r.trace.add(r, 'answer', `return ${status}${shown}`, pos, { status });
        }
        if (status >= 400 && r.http.explains) {
          noteReasonText(r, reason);
          noteReason(r, status);
        }
        run.result = answer(r, status, text, body);
        return STOP;
      };
    }
    case 'rewrite':
      return compileRewrite(step, options);
  }
}

const isRedirect = (status: number): boolean => status >= 301 && status <= 308 && status !== 304 && status !== 305 && status !== 306;

/** Answers with a status and text; `body` is the text where it is always the same. nginx: ngx_http_send_response. */
function answer(r: Request, status: number, value: ComplexValue<Request> | undefined, body: Buffer | undefined): Result {
  const broken = discardBody(r);
  if (broken !== 0) {
    return broken;
  }
  r.out.status = status;
  if (isRedirect(status)) {
    r.out.location = locationText(value?.eval(r) ?? '');
    return asStatus(status);
  }
  // Variables in the text see no type yet, as in nginx.
  const bytes = body ?? Buffer.from(value?.eval(r) ?? '', 'latin1');
  setContentType(r);
  return respondBuffer(r, status, bytes);
}

// nginx: ngx_http_script_regex_start_code, ngx_http_script_regex_end_code.
function compileRewrite(step: Extract<RewriteStep, { kind: 'rewrite' }>, options: ProgramOptions): Op {
  const { regex, target, redirect, addArgs, last, breakCycle, pos } = step;
  const { rewriteLog } = options;
  return (r, run) => {
    // nginx: as the condition of the notices in ngx_http_script_regex_start_code.
    const notices = rewriteLog || r.debugging;
    const found = regex.exec(r, r.uri);
    if (!found && regex.failed) {
      run.result = 500;
      return STOP;
    }
    if (notices) {
      r.log(NOTICE, `"${regex.pattern}" ${found ? 'matches' : 'does not match'} "${r.uri}"`);
    }
    if (!found) {
      r.trace?.add(r, 'rewrite', `rewrite "${regex.pattern}" does not match "${r.uri}"`, pos, { uri: r.uri, matches: false });
      r.captures = null;
      return NEXT;
    }
    const { path, args } = target.eval(r);
    if (redirect !== 0) {
      let location = args === undefined ? unescapeUri(path, 'redirect') : `${unescapeUri(path, 'redirect')}?${args}`;
      if (addArgs && r.args !== '') {
        location += args === undefined ? `?${r.args}` : `&${r.args}`;
      }
      if (notices) {
        r.log(NOTICE, `rewritten redirect: "${location}"`);
      }
      r.trace?.add(r, 'rewrite', `rewrite "${regex.pattern}": redirects to ${location} with ${redirect}`, pos, {
        uri: r.uri,
        to: location,
      });
      r.out.location = locationText(location);
      run.result = asStatus(redirect);
      return STOP;
    }
    r.internal = true;
    r.validUnparsedUri = false;
    if (breakCycle) {
      r.validLocation = false;
      r.uriChanged = false;
    } else {
      r.uriChanged = true;
    }
    if (args !== undefined) {
      r.args = addArgs && r.args !== '' ? (args === '' ? r.args : `${args}&${r.args}`) : args;
    } else if (!addArgs) {
      r.args = '';
    }
    if (notices) {
      r.log(NOTICE, `rewritten data: "${path}", args: "${r.args}"`);
    }
    if (path === '') {
      r.log(ERROR, 'the rewritten URI has a zero length');
      run.result = 500;
      return STOP;
    }
    if (r.trace !== null) {
      const to = r.args === '' ? path : `${path}?${r.args}`;
      r.trace.add(
        r,
        'rewrite',
        `rewrite "${regex.pattern}": "${r.uri}" becomes "${to}"${breakCycle ? ', break' : last ? ', last' : ''}`,
        pos,
        { uri: r.uri, to },
      );
    }
    if (path !== r.uri) {
      r.uriUps = target.ups;
    }
    r.uri = path;
    r.exten = extension(path);
    return last ? STOP : NEXT;
  };
}
