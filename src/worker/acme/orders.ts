import type { Block } from '../../shared/config/block.js';
import { In } from '../../shared/config/context.js';
import type { Scope } from '../../shared/config/define.js';
import type { Pos } from '../../shared/config/language/ast.js';
import type { Request } from '../http/request/request.js';
import type { ServerNames } from '../listening/listeners.js';
import { AUTOMATIC_CERTIFICATE, type TlsSettings } from '../tls/settings.js';
import { type Identifier, NameError, orderId, parseIdentifiers } from './identifier.js';
import { USUAL_KEY } from './key-kind.js';
import { acmeScope, certificateScope } from './scopes.js';
import type { Issuer, Order } from './settings.js';

/** Gives the settings in force at a block. */
interface Settings {
  settings<C extends object>(scope: Scope<C, Request>, block: Block): Readonly<C>;
}

/** Scopes of modules that say where and how a server takes TLS connections. */
export interface ServerScopes<N extends ServerNames, T extends TlsSettings> {
  readonly names: Scope<N, Request>;
  readonly tls: Scope<T, Request>;
}

/** Where complaints go. */
export interface Complaints {
  fail(message: string, pos?: Pos): never;
  warn(message: string, pos?: Pos): void;
}

/** For a configuration that was found right. */
const NONE: Complaints = {
  fail(message) {
    throw new Error(message);
  },
  warn() {},
};

/**
 * The certificates that the servers of an `http` block want, by the server's block. Several servers may want the same one. nginx-acme:
 * AcmeMainConfig::postconfiguration.
 */
export function ordersOf<N extends ServerNames, T extends TlsSettings>(
  http: Block,
  of: Settings,
  scopes: ServerScopes<N, T>,
  complaints: Complaints = NONE,
): Map<Block, Order> {
  const orders = new Map<Block, Order>();
  for (const block of http.children) {
    const order = block.context === In.SERVER ? orderOf(block, of, scopes, complaints) : undefined;
    if (order !== undefined) {
      orders.set(block, order);
    }
  }
  return orders;
}

function orderOf<N extends ServerNames, T extends TlsSettings>(
  block: Block,
  of: Settings,
  { names, tls }: ServerScopes<N, T>,
  complaints: Complaints,
): Order | undefined {
  const { line, automatic } = of.settings(certificateScope, block);
  const server = of.settings(names, block);
  const { issuers } = of.settings(acmeScope, block.parent!);
  const pos = block.node?.pos;
  if (line !== undefined) {
    const identifiers = line.identifiers.length > 0 ? line.identifiers : fromServerNames('acme_certificate', server, pos, complaints);
    if (identifiers.length === 0) {
      complaints.fail('"acme_certificate": no identifiers found in "server_name"', pos);
    }
    return makeOrder(issuers.get(line.issuer) ?? complaints.fail(`issuer "${line.issuer}" is missing`, pos), identifiers, line.key);
  }
  const { certificates } = of.settings(tls, block);
  if (automatic === null || certificates?.[0] !== AUTOMATIC_CERTIFICATE || !server.listens.some(({ ssl }) => ssl)) {
    return undefined;
  }
  const identifiers = fromServerNames('https', server, pos, complaints);
  if (identifiers.length === 0) {
    complaints.fail('"https" needs a "server_name" without regular expressions', pos);
  }
  const { issuer: name, fallback } = automatic;
  const [only] = issuers.size === 1 && fallback.kind === 'acme' ? [...issuers.values()] : [];
  const issuer = name === '' ? (only ?? fallback) : (issuers.get(name) ?? complaints.fail(`issuer "${name}" is missing`, pos));
  return makeOrder(issuer, identifiers, USUAL_KEY);
}

function makeOrder(issuer: Issuer, identifiers: readonly Identifier[], key: Order['key']): Order {
  const id = orderId(identifiers, key);
  return { id, zoneId: `${issuer.name}/${id}`, issuer, identifiers, key };
}

function fromServerNames(directive: string, { names }: ServerNames, pos: Pos | undefined, complaints: Complaints): Identifier[] {
  return names.flatMap(({ kind, name }) => {
    if (kind === 'regex') {
      complaints.warn(`"${directive}": unsupported regular expression in server_name: ${name}`, pos);
      return [];
    }
    try {
      return name === '' ? [] : parseIdentifiers(name);
    } catch (error) {
      if (!(error instanceof NameError)) {
        throw error;
      }
      return complaints.fail(`"${directive}": invalid server name: ${error.message}`, pos);
    }
  });
}
