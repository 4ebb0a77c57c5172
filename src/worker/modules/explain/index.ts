import { hash, timingSafeEqual } from 'node:crypto';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import type { Tracer } from '../../http/request/trace.js';
import { beginTrace } from '../../http/trace/begin-trace.js';
import { TracePlaces } from '../../http/trace/trace-places.js';
import { packTrace, TOKEN_HEADER, TRACE_HEADER } from '../../http/trace/trace-text.js';
import { defineModule, defineScope } from '../../module.js';
import type { Result } from '../../task/codes.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { ServerSlot } from '../../task/settings-slot.js';

/** Shorter ones could be guessed. */
const SHORTEST = 16;
const TOKEN_NAME = TOKEN_HEADER.toLowerCase();

const digest = (token: string): Buffer => hash('sha256', Buffer.from(token, 'latin1'), 'buffer');

interface Settings {
  /** What a token hashes to; undefined: nobody gets a trace. */
  token: Buffer | undefined;
}

const mainScope = defineScope<{ used: boolean }>({ fields: { used: own(false) }, directives: {} });

const scope = defineScope<Settings>({
  fields: { token: inherit<Buffer | undefined>(undefined) },
  directives: {
    // Of sluice. Syntax: explain_token token;
    explain_token: {
      in: In.HTTP | In.SERVER,
      args: 1,
      set(conf, node, ctx) {
        if (conf.token !== undefined) {
          ctx.reject('is duplicate');
        }
        const token = node.args[0]!;
        if (token.length < SHORTEST) {
          ctx.fail(`the token of "explain_token" is shorter than ${SHORTEST} characters`, { arg: 0 });
        }
        conf.token = digest(token);
        ctx.conf(mainScope).used = true;
      },
    },
  },
});

const tokenSlot = new ServerSlot<Settings>();

/** Gives those requests a trace whose client knows the server's token. */
class TokenTracer implements Tracer {
  begin(r: Request): void {
    const token = r.server.conf(tokenSlot).token;
    const given = token === undefined ? undefined : r.header(TOKEN_NAME);
    if (given === undefined) {
      return;
    }
    // Whatever it is, no log and no backend gets to see it.
    forget(r);
    if (timingSafeEqual(digest(given), token!)) {
      beginTrace(r);
    }
  }
}

function forget({ head }: Request): void {
  for (let i = head.names.indexOf(TOKEN_NAME); i !== -1; i = head.names.indexOf(TOKEN_NAME)) {
    head.names.splice(i, 1);
    head.headers.splice(i * 2, 2);
  }
}

const tracers = runtimePart(() => new TokenTracer());
const placesOf = runtimePart(() => ({ places: undefined as TracePlaces | undefined }));

/** Adds what the engine decided to the answer. */
function addTrace(r: Request): Result {
  const { trace, out } = r;
  if (trace === null || r !== r.main) {
    return 0;
  }
  const part = placesOf(r.http);
  part.places ??= new TracePlaces(r.http);
  const answer = {
    status: out.status,
    location: part.places.locationName(r.location),
    server: r.server.conf(nameSlot).serverName,
    uri: r.args === '' ? r.uri : `${r.uri}?${r.args}`,
  };
  out.add(TRACE_HEADER, packTrace(answer, part.places.placed(trace.steps)));
  // A cache on the way must not give it to others.
  out.add('Cache-Control', 'no-store');
  return 0;
}

/** Tells clients that have a token what became of their requests. */
export const explainModule = defineModule({
  name: 'explain',
  main: mainScope,
  server: scope,
  installMain({ used }, http: HttpRuntime) {
    if (used && http.tracer === null) {
      http.tracer = tracers(http);
    }
  },
  serverSlot: tokenSlot,
  location: defineScope<object>({ fields: {}, directives: {} }),
  headerFilter: (_conf, _env, location) => (location.server.http.tracer instanceof TokenTracer ? addTrace : undefined),
});
