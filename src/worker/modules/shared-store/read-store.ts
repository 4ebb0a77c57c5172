import { hostname } from 'node:os';
import { ownValue } from '../../../shared/collection/own-value.js';
import { withErrno } from '../../../shared/config/errors.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { readNamed } from '../../../shared/config/read-named.js';
import { parseEncryptionKey } from '../../fleet/encryption-key.js';
import type { SharedStoreSettings, StoreServer } from '../../fleet/settings.js';
import type { Context } from '../../module.js';

/** Lines of the block, and how many arguments they take at least and at most. */
const LINES: Readonly<Record<string, readonly [number, number]>> = {
  server: [1, 1],
  sentinel: [1, 1],
  sentinel_password_file: [1, 1],
  cluster: [1, 1],
  user: [1, 1],
  password_file: [1, 1],
  encryption_key_file: [1, 1],
  database: [1, 1],
  ssl: [1, 1],
  ssl_trusted_certificate: [1, 1],
  ssl_certificate: [1, 1],
  ssl_certificate_key: [1, 1],
  ssl_name: [1, 1],
  ssl_verify: [1, 1],
  timeout: [1, 1],
  failure: [1, 2],
  node: [1, 1],
};
/** A file of a key is shorter, with its digits and the end of the line. */
const MAX_KEY_FILE = 80;
const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26379;
const DEFAULT_TIMEOUT = 50;
const MAX_TIMEOUT = 10_000;
const MAX_DIVISOR = 1000;
/** Names that stand in keys of the store. */
const NAME = /^[0-9A-Za-z_.-]{1,64}$/;

/** Reads a `shared_store` block. */
export function readStore(node: DirectiveNode, ctx: Context): SharedStoreSettings {
  const name = node.args[0]!;
  if (!NAME.test(name)) {
    ctx.fail(`invalid name "${name}" in "shared_store" directive`, { arg: 0, hint: 'letters, digits, ".", "_" and "-" make a name' });
  }
  const texts: Record<string, string> = {};
  const servers: string[] = [];
  const files: Record<string, string> = {};
  const keys: Buffer[] = [];
  let timeout = DEFAULT_TIMEOUT;
  let failure: SharedStoreSettings['failure'] = 'local';
  let divisor = 1;
  ctx.entries(node, ({ name: line, args }, at) => {
    const bad = (why: string, arg = 0): never => at.fail(`"${line}" directive of "shared_store" ${why}`, { arg });
    const [least, most] = ownValue(LINES, line) ?? at.fail(`unknown directive "${line}" in "shared_store"`);
    if (args.length < least || args.length > most) {
      at.fail(`invalid number of arguments in "${line}" directive of "shared_store"`);
    }
    const value = args[0]!;
    if (line === 'server') {
      servers.push(value);
      return;
    }
    if (line === 'encryption_key_file') {
      keys.push(readKey(value, at));
      return;
    }
    if (texts[line] !== undefined) {
      bad('is duplicate');
    }
    texts[line] = value;
    if (line === 'timeout') {
      timeout = parseTime(value, 'ms') ?? bad('has an invalid value');
      if (timeout < 1 || timeout > MAX_TIMEOUT) {
        bad(`must be between 1ms and ${MAX_TIMEOUT / 1000}s`);
      }
    } else if (line === 'failure') {
      if (value !== 'local' && value !== 'refuse') {
        bad(`has an invalid value "${value}", it must be "local" or "refuse"`);
      }
      failure = value as SharedStoreSettings['failure'];
      divisor = args[1] === undefined ? 1 : readDivisor(args[1], failure, bad);
    } else if (/^(cluster|ssl|ssl_verify)$/.test(line)) {
      if (value !== 'on' && value !== 'off') {
        bad(`has an invalid value "${value}", it must be "on" or "off"`);
      }
    } else if (line === 'database') {
      if (!/^\d{1,5}$/.test(value)) {
        bad(`has an invalid value "${value}"`);
      }
    } else if (line === 'node') {
      if (!NAME.test(value)) {
        bad(`has an invalid value "${value}"`);
      }
    } else if (/_file$|certificate/.test(line)) {
      files[line] = readFile(value, at);
    }
  });
  const reject = (why: string): never => ctx.fail(`"shared_store" ${why}`);
  if (servers.length === 0) {
    reject('has no "server"');
  }
  const cluster = texts.cluster === 'on';
  if (cluster && texts.sentinel !== undefined) {
    reject('can have "cluster" or "sentinel", not both');
  }
  if (cluster && Number(texts.database ?? 0) !== 0) {
    reject('with "cluster" has the database 0 alone');
  }
  if (servers.length > 1 && !cluster && texts.sentinel === undefined) {
    reject('with several servers must have "cluster" or "sentinel"');
  }
  if ((texts.ssl_certificate === undefined) !== (texts.ssl_certificate_key === undefined)) {
    reject('must have both "ssl_certificate" and "ssl_certificate_key" or none');
  }
  if (texts.user !== undefined && texts.password_file === undefined) {
    reject('with "user" must have "password_file"');
  }
  const tls = texts.ssl === 'on';
  if (!tls && Object.keys(texts).some((line) => line.startsWith('ssl_'))) {
    reject('has settings of TLS without "ssl on"');
  }
  const password = secret(files.password_file, 'password_file', ctx);
  const read = servers.map((text) => readServer(text, texts.sentinel === undefined ? DEFAULT_PORT : SENTINEL_PORT, ctx));
  if ((cluster || texts.sentinel !== undefined) && read.some((server) => 'path' in server)) {
    reject('with "cluster" or "sentinel" cannot have a server at a socket of the file system');
  }
  return {
    name,
    servers: read,
    sentinel: texts.sentinel,
    sentinelPassword: secret(files.sentinel_password_file, 'sentinel_password_file', ctx),
    cluster,
    user: texts.user,
    password,
    database: Number(texts.database ?? 0),
    tls: tls
      ? {
          authorities: files.ssl_trusted_certificate,
          certificate: files.ssl_certificate,
          key: files.ssl_certificate_key,
          name: texts.ssl_name,
          verify: texts.ssl_verify !== 'off',
        }
      : undefined,
    keys,
    timeout,
    failure,
    divisor,
    node: texts.node ?? ownName(),
  };
}

function readDivisor(text: string, failure: string, bad: (why: string, arg?: number) => never): number {
  const digits = /^divisor=(\d{1,4})$/.exec(text)?.[1];
  const divisor = Number(digits ?? 0);
  if (failure !== 'local' || divisor < 1 || divisor > MAX_DIVISOR) {
    bad(`has an invalid parameter "${text}"`, 1);
  }
  return divisor;
}

/** `host`, `host:port`, `[address]:port` or `unix:path`. */
function readServer(text: string, port: number, ctx: Context): StoreServer {
  if (text.startsWith('unix:') && text.length > 5) {
    return { path: ctx.path(text.slice(5)) };
  }
  const [, inBrackets, host, given] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = given === undefined ? port : Number(given);
  if ((inBrackets ?? host) === undefined || number < 1 || number > 65535) {
    ctx.fail(`invalid server "${text}" in "shared_store"`, { hint: 'a server is written as in `server 10.0.0.5:6379;`' });
  }
  return { host: (inBrackets ?? host)!, port: number };
}

function readFile(text: string, ctx: Context): string {
  const path = ctx.path(text, 'conf');
  return readNamed(path, ctx, `failed to open "${path}"`);
}

function readKey(text: string, ctx: Context): Buffer {
  const path = ctx.path(text, 'conf');
  let content: string;
  try {
    content = ctx.named.readPrivate(path, MAX_KEY_FILE);
  } catch (error) {
    const failed = (error as NodeJS.ErrnoException).code !== undefined;
    return ctx.fail(failed ? withErrno(`failed to open "${path}"`, error) : `the key file "${path}" ${(error as Error).message}`, {
      arg: 0,
    });
  }
  const key = parseEncryptionKey(content);
  return (
    key ?? ctx.fail(`"${path}" must have 32 bytes or 64 hexadecimal digits`, { arg: 0, hint: '`openssl rand -hex 32` makes such a key' })
  );
}

/** The first line of a file is a password. */
function secret(text: string | undefined, line: string, ctx: Context): string | undefined {
  const password = text?.split(/\r?\n/, 1)[0];
  if (password === '') {
    ctx.fail(`the file of "${line}" of "shared_store" begins with an empty line`);
  }
  return password;
}

const ownName = (): string =>
  hostname()
    .replace(/[^0-9A-Za-z_.-]/g, '-')
    .slice(0, 64) || 'node';
