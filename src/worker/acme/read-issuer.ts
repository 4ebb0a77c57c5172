import { ownValue } from '../../shared/collection/own-value.js';
import { withErrno } from '../../shared/config/errors.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import { defaultStatePath } from '../../shared/config/paths.js';
import { onOff } from '../../shared/config/slots.js';
import { nativeText } from '../../shared/text/native-text.js';
import type { Context } from '../module.js';
import { objectReader } from '../tls/identity.js';
import { loadAuthorities, loadKey, loadNamed, TlsFileError } from '../tls/pem.js';
import { parseKeyKind, USUAL_KEY } from './key-kind.js';
import type { AcmeIssuer, ChallengeType } from './settings.js';

const CHALLENGES: Readonly<Record<string, ChallengeType>> = {
  http: 'http-01',
  'http-01': 'http-01',
  'tls-alpn': 'tls-alpn-01',
  'tls-alpn-01': 'tls-alpn-01',
  dns: 'dns-01',
  'dns-01': 'dns-01',
};

/** Lines and the numbers of arguments they take. */
const ARGUMENTS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  uri: [1, 1],
  account_key: [1, 1],
  challenge: [1, 2],
  common_name_in_csr: [1, 1],
  contact: [1, 1],
  external_account_key: [2, 2],
  preferred_chain: [1, 1],
  profile: [1, 2],
  ssl_trusted_certificate: [1, 1],
  ssl_verify: [1, 1],
  on_demand: [0, 1],
  state_path: [1, 1],
  accept_terms_of_service: [0, 0],
};

/** How many names an issuer has on demand, unless told. */
const USUAL_NAMES = 1000;

type Draft = { -readonly [K in keyof AcmeIssuer]: AcmeIssuer[K] };

/** A CA of which nothing is said but its name, as it stands at the directive that is read. */
export const usualIssuer = (name: string, ctx: Context): AcmeIssuer => ({
  kind: 'acme',
  name,
  pos: ctx.node.pos,
  uri: '',
  accountKey: USUAL_KEY,
  challenge: 'http-01',
  dnsHook: '',
  commonName: false,
  contacts: [],
  externalAccount: undefined,
  preferredChain: '',
  profile: undefined,
  authorities: undefined,
  verify: true,
  statePath: defaultStatePath(`acme_${name}`, ctx.path('')),
  acceptTerms: false,
  onDemand: 0,
});

/** Reads an `acme_issuer` block, with nginx-acme's messages. nginx-acme: Issuer. */
export function readIssuer(node: DirectiveNode, ctx: Context): AcmeIssuer {
  const issuer: Draft = { ...usualIssuer(node.args[0]!, ctx) };
  const seen = new Set<string>();
  ctx.entries(node, (line, lineCtx) => {
    const [least, most] = ownValue(ARGUMENTS, line.name) ?? lineCtx.fail(`unknown directive "${line.name}"`);
    if (line.args.length < least || line.args.length > most) {
      lineCtx.fail(`invalid number of arguments in "${line.name}"`);
    }
    // Of several addresses the last one counts, as in nginx-acme.
    if (seen.has(line.name) && line.name !== 'contact' && line.name !== 'uri') {
      refuse(line.name, 'is duplicate', lineCtx);
    }
    seen.add(line.name);
    readLine(issuer, line, lineCtx);
  });
  if (issuer.uri === '') {
    ctx.fail('acme_issuer: "uri" is missing', { hint: "a CA's directory, such as https://acme-v02.api.letsencrypt.org/directory" });
  }
  if (issuer.statePath !== undefined) {
    ctx.folder(issuer.statePath);
  }
  return issuer;
}

/** Refuses a line in nginx-acme's words, which are in quotes. */
const refuse = (name: string, why: string, ctx: Context, arg?: number): never =>
  ctx.fail(`"${name}" directive "${why}"`, arg === undefined ? {} : { arg });

function readLine(issuer: Draft, { name, args }: DirectiveNode, ctx: Context): void {
  const [first = '', second] = args;
  const invalid = (): never => refuse(name, 'invalid value', ctx, 0);
  switch (name) {
    case 'uri':
      issuer.uri = directoryUrl(first) ?? invalid();
      break;
    case 'account_key':
      issuer.accountKey = accountKey(first, ctx);
      break;
    case 'challenge':
      issuer.challenge = ownValue(CHALLENGES, first) ?? ctx.fail(`unsupported challenge: ${first}`, { arg: 0 });
      issuer.dnsHook = dnsHook(issuer.challenge, second, ctx);
      break;
    case 'common_name_in_csr':
      issuer.commonName = onOff(name, first, ctx);
      break;
    case 'contact':
      if (first === '') {
        invalid();
      }
      issuer.contacts = [...issuer.contacts, /^[a-z][a-z0-9+\-.]*:/i.test(first) ? first : `mailto:${first}`];
      break;
    case 'external_account_key':
      if (first === '' || second === '') {
        invalid();
      }
      issuer.externalAccount = { kid: first, key: externalKey(second!, ctx) };
      break;
    case 'preferred_chain':
      issuer.preferredChain = nativeText(first);
      break;
    case 'profile':
      if (second !== undefined && second !== 'require') {
        invalid();
      }
      issuer.profile = { name: nativeText(first), required: second !== undefined };
      break;
    case 'ssl_trusted_certificate':
      issuer.authorities = authorities(first, ctx);
      break;
    case 'ssl_verify':
      issuer.verify = onOff(name, first, ctx);
      break;
    case 'state_path':
      issuer.statePath = first === 'off' ? undefined : ctx.path(first);
      break;
    case 'on_demand':
      issuer.onDemand = args.length === 0 ? USUAL_NAMES : /^[1-9]\d{0,5}$/.test(first) ? Number(first) : invalid();
      break;
    case 'accept_terms_of_service':
      issuer.acceptTerms = true;
      break;
  }
}

function directoryUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (url?.protocol === 'https:' || url?.protocol === 'http:') && url.hostname !== '' ? url.href : undefined;
}

function accountKey(text: string, ctx: Context): AcmeIssuer['accountKey'] {
  const kind = parseKeyKind(text);
  if (typeof kind === 'string') {
    return ctx.fail(`account_key: ${kind}`, { arg: 0 });
  }
  if (kind !== undefined) {
    return kind;
  }
  const path = ctx.path(text, 'conf');
  try {
    return loadKey(path, [], objectReader(ctx.named)).export({ type: 'pkcs8', format: 'pem' }) as string;
  } catch (error) {
    if (!(error instanceof TlsFileError)) {
      throw error;
    }
    return ctx.fail(`acme_issuer: cannot load account key: "${path}": ${error.message}`, { arg: 0 });
  }
}

function dnsHook(challenge: ChallengeType, argument: string | undefined, ctx: Context): string {
  if (challenge !== 'dns-01') {
    return argument === undefined ? '' : ctx.fail(`invalid parameter "${argument}"`, { arg: 1 });
  }
  if (argument === undefined || !/^exec=\//.test(argument)) {
    ctx.fail('the challenge "dns" must have the "exec" parameter with the full path of a program', { arg: argument === undefined ? 0 : 1 });
  }
  return argument.slice('exec='.length);
}

/** The key that a CA handed out for an account of its own, from a file or behind `data:`. */
function externalKey(text: string, ctx: Context): string {
  let key = text.slice('data:'.length);
  if (!text.startsWith('data:')) {
    const path = ctx.path(text, 'conf');
    try {
      key = ctx.named.read(path);
    } catch (error) {
      ctx.fail(`external_account_key: ${withErrno(`open() "${path}" failed`, error)}`, { arg: 1 });
    }
  }
  key = key.trim();
  const plain = /^([A-Za-z0-9_-]+)(?:=.*)?$/s.exec(key)?.[1];
  return plain === undefined || plain.length % 4 === 1 ? refuse('external_account_key', 'invalid base64url encoded value', ctx, 1) : plain;
}

function authorities(text: string, ctx: Context): string {
  const path = ctx.path(text, 'conf');
  try {
    return loadNamed('certificate', path, () => loadAuthorities(path, objectReader(ctx.named))).join('\n');
  } catch (error) {
    if (!(error instanceof TlsFileError)) {
      throw error;
    }
    return ctx.fail(error.message, { arg: 0 });
  }
}
