import { type LinkContext, type MergeContext, own } from '../../shared/config/define.js';
import { parseTime } from '../../shared/config/language/units.js';
import { defineSharedScope, type SharedContext } from '../module.js';
import type { ClientTask } from '../task/client-task.js';

/** What a server's handshakes ask scripts. Times are in milliseconds. */
export interface HandshakeSettings {
  /** Called with each hello. */
  clientHello: string | undefined;
  /** Called for the certificate of a name. */
  certificate: string | undefined;
  /** How many names' certificates are kept; 0: none. */
  cache: number;
  /** For how long. */
  valid: number;
  timeout: number;
}

/** The settings of servers of `http` and of `stream`; the directives belong to the modules of the two. */
export const handshakeScope = defineSharedScope<HandshakeSettings>({
  fields: {
    clientHello: own<string | undefined>(undefined),
    certificate: own<string | undefined>(undefined),
    cache: own(1000),
    valid: own(3_600_000),
    timeout: own(10_000),
  },
  directives: {},
});

/** Reads `js_client_hello`. */
export function readHelloLine(ctx: SharedContext): void {
  const conf = ctx.conf(handshakeScope);
  if (conf.clientHello !== undefined) {
    ctx.reject('is duplicate');
  }
  conf.clientHello = ctx.node.args[0]!;
}

/** Reads `js_ssl_certificate`. */
export function readCertificateFunction(ctx: SharedContext): void {
  const conf = ctx.conf(handshakeScope);
  if (conf.certificate !== undefined) {
    ctx.reject('is duplicate');
  }
  const [name = '', ...parameters] = ctx.node.args;
  conf.certificate = name;
  for (const [i, text] of parameters.entries()) {
    const [key, value = ''] = text.split(/=(.*)/s) as [string, string | undefined];
    const bad = (): never => ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    if (key === 'cache') {
      conf.cache = /^\d{1,6}$/.test(value) ? Number(value) : bad();
    } else if (key === 'valid') {
      conf.valid = parseTime(value, 'ms') || bad();
    } else if (key === 'timeout') {
      conf.timeout = parseTime(value, 'ms') || bad();
    } else {
      bad();
    }
  }
}

/** A directive, and the function of a script that it names, if it does. */
export type NamedFunction = readonly [directive: string, name: string | undefined];

const NONE: readonly NamedFunction[] = [];

/** The functions that a server's handshakes call, by the directives that name them. */
export function handshakeFunctions(ctx: LinkContext<ClientTask>, { block }: MergeContext): readonly NamedFunction[] {
  const { clientHello, certificate } = ctx.settings(handshakeScope, block);
  if (clientHello === undefined && certificate === undefined) {
    return NONE;
  }
  return [
    ['js_client_hello', clientHello],
    ['js_ssl_certificate', certificate],
  ];
}
