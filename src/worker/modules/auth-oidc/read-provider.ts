import { createPrivateKey } from 'node:crypto';
import { ownValue } from '../../../shared/collection/own-value.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { readNamed } from '../../../shared/config/read-named.js';
import { onOff } from '../../../shared/config/slots.js';
import { httpKeyvals } from '../../lookup/keyval-zone.js';
import type { Context } from '../../module.js';
import { objectReader } from '../../tls/identity.js';
import { loadAuthorities, loadKey, loadNamed, loadRevocations, TlsFileError } from '../../tls/pem.js';
import { keyAlgorithm } from './key-algorithm.js';
import { isShared } from './provider-tokens.js';
import { type ClientKey, MIN_SECRET, type ProviderSettings } from './settings.js';

/** Lines and the numbers of arguments they take. */
const ARGUMENTS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  issuer: [1, 1],
  client_id: [1, 1],
  client_secret: [1, 1],
  private_key_jwt: [1, 3],
  config_url: [1, 1],
  cookie_name: [1, 1],
  extra_auth_args: [1, 1],
  frontchannel_logout_uri: [1, 1],
  backchannel_logout_uri: [1, 1],
  pkce: [1, 1],
  redirect_uri: [1, 1],
  logout_uri: [1, 1],
  post_logout_uri: [1, 1],
  logout_token_hint: [1, 1],
  scope: [1, Number.POSITIVE_INFINITY],
  response_mode: [1, 1],
  id_token_signed_response_alg: [1, 1],
  decryption_key: [1, 1],
  session_store: [1, 1],
  session_key: [1, 1],
  session_timeout: [1, 1],
  ssl_crl: [1, 1],
  ssl_trusted_certificate: [1, 1],
  userinfo: [1, 1],
};

/** Lines that may stand there several times: keys are changed one after the other. */
const REPEATED: ReadonlySet<string> = new Set(['session_key', 'decryption_key']);

/** The size of the zone that a provider has without `session_store`. */
const ZONE_BYTES = 8 * 1024 * 1024;
/** The word of `session_store` for sessions in cookies, which NGINX Plus does not have. */
const IN_COOKIES = 'cookie';

type Draft = { -readonly [K in keyof ProviderSettings]: ProviderSettings[K] };

/** Reads an `oidc_provider` block. NGINX Plus: ngx_http_oidc_module. */
export function readProvider(node: DirectiveNode, ctx: Context): ProviderSettings {
  const name = node.args[0]!;
  let store: string | undefined;
  const draft: Omit<Draft, 'zone' | 'ownZone'> = {
    name,
    pos: node.pos,
    issuer: '',
    clientId: '',
    clientSecret: undefined,
    clientKey: undefined,
    configUrl: '',
    cookieName: 'NGX_OIDC_SESSION',
    extraAuthArgs: '',
    scope: 'openid',
    responseMode: 'query',
    idTokenAlgorithm: undefined,
    decryptionKeys: [],
    pkce: undefined,
    redirectUri: '/oidc_callback',
    logoutUri: undefined,
    postLogoutUri: undefined,
    frontchannelLogoutUri: undefined,
    backchannelLogoutUri: undefined,
    logoutTokenHint: false,
    userinfo: false,
    inCookies: false,
    sessionKeys: [],
    sessionTimeout: 8 * 60 * 60 * 1000,
    crl: undefined,
    trustedCertificate: undefined,
  };
  const seen = new Set<string>();
  ctx.entries(node, (line, lineCtx) => {
    const [least, most] = ownValue(ARGUMENTS, line.name) ?? lineCtx.fail(`unknown directive "${line.name}"`);
    if (line.args.length < least || line.args.length > most) {
      lineCtx.fail(`invalid number of arguments in "${line.name}" directive`);
    }
    if (seen.has(line.name) && !REPEATED.has(line.name)) {
      lineCtx.fail(`"${line.name}" directive is duplicate`);
    }
    seen.add(line.name);
    if (line.args[0] === '') {
      lineCtx.fail(`"${line.name}" directive invalid value`, { arg: 0 });
    }
    if (line.name === 'session_store') {
      store = line.args[0]!;
    } else {
      readLine(draft, line, lineCtx);
    }
  });
  for (const [needed, value] of [
    ['issuer', draft.issuer],
    ['client_id', draft.clientId],
  ] as const) {
    if (value === '') {
      ctx.fail(`no "${needed}" is defined in oidc_provider "${name}"`);
    }
  }
  if (draft.clientSecret !== undefined && draft.clientKey !== undefined) {
    ctx.fail(`oidc_provider "${name}" has both "client_secret" and "private_key_jwt"`);
  }
  if (isShared(draft.idTokenAlgorithm) && draft.clientSecret === undefined) {
    ctx.fail(`"id_token_signed_response_alg ${draft.idTokenAlgorithm}" of oidc_provider "${name}" needs "client_secret"`);
  }
  draft.configUrl ||= `${draft.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  draft.inCookies = store === IN_COOKIES;
  if (draft.inCookies) {
    checkKeys(draft, ctx);
  }
  const ownZone = store === undefined || draft.inCookies;
  const zone = ownZone
    ? ctx.zone(httpKeyvals, `oidc_default_store_${name}`, {
        bytes: ZONE_BYTES,
        data: { type: 'string', timeout: 0, state: undefined, sync: false },
      })
    : ctx.zone(httpKeyvals, store!);
  return { ...draft, zone, ownZone };
}

/** Cookies need a key that outlives the process, and that nobody can guess. */
function checkKeys({ name, sessionKeys, clientSecret, clientKey }: Omit<Draft, 'zone' | 'ownZone'>, ctx: Context): void {
  if (sessionKeys.length > 0 || clientKey !== undefined) {
    return;
  }
  if (clientSecret === undefined) {
    ctx.fail(`"session_store cookie" of oidc_provider "${name}" needs "client_secret", "private_key_jwt" or "session_key"`);
  }
  if (clientSecret.length < MIN_SECRET) {
    ctx.fail(`the "client_secret" of oidc_provider "${name}" is too short to encrypt cookies with`, {
      hint: 'name a file with 32 random bytes or more by `session_key`',
    });
  }
}

function readLine(draft: Omit<Draft, 'zone' | 'ownZone'>, { name, args }: DirectiveNode, ctx: Context): void {
  const first = args[0]!;
  switch (name) {
    case 'issuer':
      draft.issuer = url(name, first, ctx);
      break;
    case 'config_url':
      draft.configUrl = url(name, first, ctx);
      break;
    case 'client_id':
      draft.clientId = first;
      break;
    case 'client_secret':
      draft.clientSecret = first;
      break;
    case 'private_key_jwt':
      draft.clientKey = clientKey(args, ctx);
      break;
    case 'cookie_name':
      draft.cookieName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(first) ? first : ctx.fail(`invalid cookie name "${first}"`, { arg: 0 });
      break;
    case 'extra_auth_args':
      // What stands in the value reaches a Location header.
      draft.extraAuthArgs = /^[\x21-\x7e]+$/.test(first) ? first.replace(/^[?&]/, '') : ctx.fail(`invalid value "${first}"`, { arg: 0 });
      break;
    case 'scope':
      draft.scope = args.join(' ');
      if (!draft.scope.split(' ').includes('openid')) {
        ctx.fail('"scope" must have "openid"', { arg: 0 });
      }
      break;
    case 'response_mode':
      draft.responseMode = first === 'query' || first === 'form_post' ? first : ctx.fail(`invalid response mode "${first}"`, { arg: 0 });
      break;
    case 'id_token_signed_response_alg':
      // Signatures by public keys are checked by the library, which knows these.
      draft.idTokenAlgorithm = /^(?:[HRPE]S(?:256|384|512)|EdDSA|Ed25519)$/.test(first)
        ? first
        : ctx.fail(`invalid algorithm "${first}"`, { arg: 0 });
      break;
    case 'decryption_key':
      draft.decryptionKeys = [...draft.decryptionKeys, decryptionKey(first, ctx)];
      break;
    case 'pkce':
      draft.pkce = onOff(name, first, ctx);
      break;
    case 'logout_token_hint':
      draft.logoutTokenHint = onOff(name, first, ctx);
      break;
    case 'userinfo':
      draft.userinfo = onOff(name, first, ctx);
      break;
    case 'redirect_uri':
      draft.redirectUri = first.startsWith('/') ? path(name, first, ctx) : url(name, first, ctx);
      break;
    case 'post_logout_uri':
      draft.postLogoutUri = first.startsWith('/') ? path(name, first, ctx) : anyUrl(name, first, ctx);
      break;
    case 'logout_uri':
      draft.logoutUri = path(name, first, ctx);
      break;
    case 'frontchannel_logout_uri':
      draft.frontchannelLogoutUri = path(name, first, ctx);
      break;
    case 'backchannel_logout_uri':
      draft.backchannelLogoutUri = path(name, first, ctx);
      break;
    case 'session_timeout':
      draft.sessionTimeout = parseTime(first, 'ms') || ctx.fail(`"${name}" directive invalid value`, { arg: 0 });
      break;
    case 'session_key':
      draft.sessionKeys = [...draft.sessionKeys, keyFile(first, ctx)];
      break;
    case 'ssl_crl':
      draft.crl = pemFile('CRL', first, ctx, loadRevocations);
      break;
    case 'ssl_trusted_certificate':
      draft.trustedCertificate = pemFile('certificate', first, ctx, loadAuthorities);
      break;
  }
}

function path(name: string, text: string, ctx: Context): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !/[?#]/.test(text) ? text : ctx.fail(`invalid path "${text}" in "${name}"`, { arg: 0 });
}

/** A URL as it is written. */
function anyUrl(name: string, text: string, ctx: Context): string {
  return /^https?:\/\/[\x21-\x7e]+$/i.test(text) && !text.includes('#') && canBeUrl(text)
    ? text
    : ctx.fail(`invalid URL "${text}" in "${name}"`, { arg: 0 });
}

/** Names that stand for somebody's own, as documentation has them (`https://<server>/realms/master`), are let through: no host has them. */
const canBeUrl = (text: string): boolean => URL.canParse(text) || URL.canParse(text.replace(/[<>]/g, ''));

function url(name: string, text: string, ctx: Context): string {
  if (!/^https:\/\//i.test(text)) {
    ctx.fail(`"${name}" must be a URL with the scheme "https"`, { arg: 0 });
  }
  return anyUrl(name, text, ctx);
}

function clientKey(args: readonly string[], ctx: Context): ClientKey {
  const file = ctx.path(args[0]!, 'conf');
  let kid: string | undefined;
  let algorithm: string | undefined;
  for (const [i, text] of args.entries()) {
    if (text.startsWith('kid=') && i > 0) {
      kid = text.slice('kid='.length);
    } else if (text.startsWith('alg=') && i > 0) {
      algorithm = text.slice('alg='.length);
    } else if (i > 0) {
      ctx.fail(`invalid parameter "${text}"`, { arg: i });
    }
  }
  const pem = tlsFile(ctx, () =>
    loadNamed('certificate key', file, () => loadKey(file, [], objectReader(ctx.named)).export({ type: 'pkcs8', format: 'pem' }) as string),
  );
  const found = keyAlgorithm(createPrivateKey(pem), algorithm);
  return found === undefined ? ctx.fail(`the key "${args[0]}" cannot sign with "${algorithm ?? 'RS256'}"`) : { pem, kid, algorithm: found };
}

/** A private key of RSA as PEM. */
function decryptionKey(text: string, ctx: Context): string {
  const file = ctx.path(text, 'conf');
  const key = tlsFile(ctx, () => loadNamed('certificate key', file, () => loadKey(file, [], objectReader(ctx.named))));
  return key.asymmetricKeyType === 'rsa'
    ? (key.export({ type: 'pkcs8', format: 'pem' }) as string)
    : ctx.fail(`the key "${text}" cannot decrypt tokens: it is not one of RSA`, { arg: 0 });
}

function tlsFile<T>(ctx: Context, load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof TlsFileError)) {
      throw error;
    }
    return ctx.fail(error.message, { arg: 0 });
  }
}

function pemFile(what: string, text: string, ctx: Context, load: typeof loadAuthorities | typeof loadRevocations): string {
  const file = ctx.path(text, 'conf');
  tlsFile(ctx, () => loadNamed(what, file, () => load(file, objectReader(ctx.named))));
  return file;
}

function keyFile(text: string, ctx: Context): string {
  const file = ctx.path(text, 'conf');
  const key = readNamed(file, ctx);
  return key.length < 32 ? ctx.fail(`"${file}" must have at least 32 bytes`, { arg: 0 }) : key;
}
