import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { claimContent, defineModule, defineSharedScope } from '../../module.js';
import type { SessionReader, StreamSession } from '../../stream/session/session.js';
import type { MakeSessionFilter } from '../../stream/session/session-filter.js';
import { INTERNAL_SERVER_ERROR, STATUS_OK } from '../../stream/session/status.js';
import type { ClientTask } from '../../task/client-task.js';
import { DONE, type Result } from '../../task/codes.js';

interface Settings {
  text: ComplexValue<ClientTask> | undefined;
}

const scope = defineSharedScope<Settings>({
  fields: { text: own<Settings['text']>(undefined) },
  directives: {
    // nginx: ngx_stream_return.
    return: {
      in: In.STREAM_SERVER,
      args: 1,
      set(conf, node, ctx) {
        if (conf.text !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.text = ctx.complex(node.args[0]!);
        claimContent(ctx, 'stream_return');
      },
    },
  },
});

// nginx: ngx_stream_return_handler.
function sendText(s: StreamSession, text: string): Result {
  s.action = 'returning text';
  if (text === '') {
    return STATUS_OK;
  }
  s.wait(sending);
  const { makeFilter } = s.server;
  const bytes = makeFilter === undefined ? text : filtered(s, text, makeFilter);
  s.bytesSent = bytes.length;
  if (s.finished) {
    return DONE;
  }
  return bytes.length === 0 || s.send(bytes) ? STATUS_OK : DONE;
}

/** What a filter makes of the text before it returns. */
function filtered(s: StreamSession, text: string, makeFilter: MakeSessionFilter): Buffer {
  const pieces: Buffer[] = [];
  const output = {
    pass: (bytes: Buffer, fromUpstream: boolean): void => void (fromUpstream && pieces.push(bytes)),
    filterFailure: INTERNAL_SERVER_ERROR,
  };
  makeFilter(s, output).take(Buffer.from(text, 'latin1'), true, true);
  return Buffer.concat(pieces);
}

/** The client's kernel is full: the session is over once it took the text. */
const sending: SessionReader = {
  received() {},
  ended() {},
  flushed: (s) => s.finalize(STATUS_OK),
  expired: (s) => s.finalize(STATUS_OK),
  broken: (s) => s.finalize(STATUS_OK),
};

/** Sends a text and closes the connection. nginx: ngx_stream_return_module. */
export const streamReturnModule = defineModule({
  name: 'stream_return',
  location: scope,
  stream: {
    handler: ({ text }) => (text === undefined ? undefined : (s) => sendText(s, text.eval(s))),
  },
});
