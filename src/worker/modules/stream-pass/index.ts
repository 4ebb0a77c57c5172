import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { addressText, parseBackendUrl } from '../../address/backend-url.js';
import type { PassTarget } from '../../connections/passing.js';
import { claimContent, defineModule, defineSharedScope } from '../../module.js';
import type { StreamSession } from '../../stream/session/session.js';
import { INTERNAL_SERVER_ERROR, STATUS_OK } from '../../stream/session/status.js';
import { type ClientTask, lastingSlot } from '../../task/client-task.js';
import { DONE, type Result } from '../../task/codes.js';

interface Settings {
  target: PassTarget | ComplexValue<ClientTask> | undefined;
}

/** How often a connection may be passed on. nginx: NGX_STREAM_PASS_MAX_PASSES. */
const MAX_PASSES = 10;

const scope = defineSharedScope<Settings>({
  fields: { target: own<Settings['target']>(undefined) },
  directives: {
    // nginx: ngx_stream_pass.
    pass: {
      in: In.STREAM_SERVER,
      args: 1,
      set(conf, node, ctx) {
        if (conf.target !== undefined) {
          ctx.reject('is duplicate');
        }
        claimContent(ctx, 'stream_pass');
        const text = node.args[0]!;
        const value = ctx.complex(text);
        if (value.constant === undefined) {
          conf.target = value;
          return;
        }
        const target = readTarget(text);
        if (typeof target !== 'string') {
          conf.target = target;
        } else if (target.startsWith('no ')) {
          ctx.reject(`has ${target}`, { arg: 0 });
        } else {
          ctx.fail(`${target} in "${text}" of the "pass" directive`, { arg: 0 });
        }
      },
    },
  },
});

/** Reads an address; returns what is wrong with it. */
function readTarget(text: string): PassTarget | string {
  const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    return url;
  }
  if (url.family === 'unix') {
    return { address: url.host, port: 0, unix: true };
  }
  if (url.address === undefined) {
    return 'no addresses';
  }
  return url.noPort ? 'no port' : { address: url.address, port: url.port, unix: false };
}

const PASSES = lastingSlot<number>();

// nginx: ngx_stream_pass_handler.
function pass(s: StreamSession, given: PassTarget | ComplexValue<ClientTask>): Result {
  s.action = 'passing connection to port';
  const refuse = (why: string): Result => {
    s.log(ERROR, why);
    return INTERNAL_SERVER_ERROR;
  };
  if (s.udp) {
    return refuse('cannot pass udp connection');
  }
  // Of TLS, nginx can look at nothing without taking it.
  if (s.tls !== undefined && s.prereads && s.held !== null) {
    return refuse('cannot pass connection with preread data');
  }
  let target: PassTarget;
  if ('eval' in given) {
    const text = given.eval(s);
    const read = readTarget(text);
    if (typeof read === 'string') {
      return refuse(`${read} in pass "${text}"`);
    }
    target = read;
  } else {
    target = given;
  }
  const passes = (PASSES.get(s) ?? 0) + 1;
  PASSES.set(s, passes);
  if (passes > MAX_PASSES) {
    return refuse('stream pass cycle');
  }
  const listener = s.connections.listenerOf(target);
  if (listener === undefined) {
    s.log(ERROR, `port not found for "${target.unix ? `unix:${target.address}` : addressText(target.address, target.port)}"`);
    return STATUS_OK;
  }
  listener.take(s.leave(), target);
  return DONE;
}

/** Hands connections to another listener of this server, as if they had come there. nginx: ngx_stream_pass_module. */
export const streamPassModule = defineModule({
  name: 'stream_pass',
  location: scope,
  stream: {
    handler({ target }, _env, { stream }) {
      if (target === undefined) {
        return undefined;
      }
      stream.passes = true;
      return (s) => pass(s, target);
    },
  },
});
