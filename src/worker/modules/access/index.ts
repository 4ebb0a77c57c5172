import { type Address, isMapped, parseWritten, unmapped } from '../../../shared/address/address.js';
import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import type { DirectiveNode, Pos } from '../../../shared/config/language/ast.js';
import { ERROR } from '../../../shared/log/level.js';
import { type AddressEntry, AddressMap } from '../../address/address-map.js';
import { parseCidr } from '../../address/cidr.js';
import { documentSlot } from '../../http/request/document-settings.js';
import { noteReasonText } from '../../http/request/error-reason.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';

interface Verdict {
  readonly allows: boolean;
  /** The line, for `$error_reason`. */
  readonly reason: string;
  /** The rule, and its place. */
  readonly text: string;
  readonly pos: Pos;
}

/** One line: a network, `unix:` or `all`, in the order of the text. */
interface Rule {
  readonly networks: readonly AddressEntry<Verdict>[];
  /** Whether clients of UNIX-domain sockets are meant. */
  readonly unix: boolean;
  readonly verdict: Verdict;
}

interface Settings {
  rules: readonly Rule[];
}

const everything = [parseCidr('0.0.0.0/0')!, parseCidr('::/0')!];

// nginx: ngx_http_access_rule.
const add = (word: 'allow' | 'deny') => (conf: Partial<Settings>, node: DirectiveNode, ctx: SharedContext) => {
  const text = node.args[0]!;
  const reason = `access forbidden by rule "${word} ${text}" in ${node.pos.file}:${node.endLine}`;
  const verdict: Verdict = { allows: word === 'allow', reason, text: `${word} ${text}`, pos: node.pos };
  const cidrs =
    text === 'all' ? everything : text === 'unix:' ? [] : [parseCidr(text) ?? ctx.fail(`invalid parameter "${text}"`, { arg: 0 })];
  if (text !== 'all' && cidrs[0]?.lowBits) {
    ctx.warn(`low address bits of ${text} are meaningless`, { arg: 0 });
  }
  const networks = cidrs.map(({ first, last }) => ({ first, last, value: verdict }));
  conf.rules = append(conf.rules, { networks, unix: text === 'all' || text === 'unix:', verdict });
};

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.LIMIT_EXCEPT | In.STREAM | In.STREAM_SERVER;

const scope = defineSharedScope<Settings>({
  fields: { rules: { initial: [], merge: (outer, inner) => inner ?? outer } },
  directives: {
    // Syntax: allow address | CIDR | unix: | all;
    allow: { in: ANYWHERE, args: 1, set: add('allow') },
    // Syntax: deny address | CIDR | unix: | all;
    deny: { in: ANYWHERE, args: 1, set: add('deny') },
  },
});

/** The rules of a location, made for looking up. */
class AccessRules {
  readonly #networks: AddressMap<Verdict>;
  readonly #unix: Verdict | undefined;

  constructor(rules: readonly Rule[]) {
    this.#networks = new AddressMap(rules.flatMap((rule) => rule.networks));
    this.#unix = rules.find((rule) => rule.unix)?.verdict;
  }

  /** nginx: ngx_http_access_handler. */
  find(client: string): Verdict | undefined {
    const address = parseWritten(client);
    return address === undefined ? this.#unix : this.#networks.find(this.#counted(address));
  }

  /** An IPv4-mapped address counts as IPv4 unless there are rules for IPv6 alone. */
  #counted(address: Address): Address {
    return isMapped(address) && this.#networks.has(4) ? unmapped(address) : address;
  }
}

function check(r: Request, rules: AccessRules): Result {
  const verdict = rules.find(r.connection.remoteAddress);
  if (r.trace !== null) {
    const { remoteAddress } = r.connection;
    const text =
      verdict === undefined
        ? `no rule for ${remoteAddress}: let in`
        : `${verdict.text}: ${remoteAddress} is ${verdict.allows ? 'let in' : 'refused with 403'}`;
    r.trace.add(r, 'access', text, verdict?.pos, { address: remoteAddress, allowed: verdict?.allows ?? true });
  }
  if (verdict === undefined) {
    return DECLINED;
  }
  if (verdict.allows) {
    return OK;
  }
  if (r.location.conf(documentSlot).satisfy === 'all') {
    r.log(ERROR, 'access forbidden by rule');
  }
  if (r.http.explains) {
    noteReasonText(r, verdict.reason);
  }
  return 403;
}

// nginx: ngx_stream_access_handler.
function checkSession(s: ClientTask, rules: AccessRules): Result {
  const verdict = rules.find(s.connection.remoteAddress);
  if (verdict === undefined) {
    return DECLINED;
  }
  if (verdict.allows) {
    return OK;
  }
  s.log(ERROR, 'access forbidden by rule');
  return 403;
}

/** Lets clients in or not by their address: the first rule that fits decides. nginx: ngx_http_access_module, ngx_stream_access_module. */
export const accessModule = defineModule({
  name: 'access',
  location: scope,
  phases: {
    access({ rules }) {
      if (rules.length === 0) {
        return undefined;
      }
      const compiled = new AccessRules(rules);
      return (r) => check(r, compiled);
    },
  },
  stream: {
    phases: {
      access({ rules }) {
        if (rules.length === 0) {
          return undefined;
        }
        const compiled = new AccessRules(rules);
        return (s) => checkSession(s, compiled);
      },
    },
  },
});
