// OpenSSL's own commands for contexts, by which a configuration reaches what Node has no option for.
import { closeSync, writeSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { type Library, loadLibrary } from '../../../shared/native/native.js';
import { contextAddress } from './context-address.js';
import { bindErrorQueue } from './error-queue.js';

/** A command, its value, and what the file has that the value names; undefined where it names none. */
export interface ContextCommand {
  readonly name: string;
  readonly value: string;
  readonly content: string | undefined;
}

/** What OpenSSL makes nothing of, and why; no command where all of them together are wrong. */
export interface CommandFailure {
  readonly command: ContextCommand | undefined;
  readonly reason: string;
}

/** SSL_CONF_FLAG_FILE, _CLIENT, _SERVER, _SHOW_ERRORS and _CERTIFICATE. */
const FLAGS = 0x2 | 0x4 | 0x8 | 0x10 | 0x20;
/** SSL_CTX_set_min_proto_version and SSL_CTX_set_max_proto_version, and the question for the latter. */
const [SET_LEAST, SET_MOST, GET_MOST] = [123, 124, 131];
const TLS_1_3 = 0x0304;
const NO_TLS_1_3 = 0x20000000;
const CLOSED_ON_EXEC = 1;

type Calls = ReturnType<typeof bind>;

let calls: Calls | undefined;
/** Why OpenSSL cannot be given commands, empty when it can; undefined until that was tried. */
let problem: string | undefined;

function bind(library: Library) {
  const { find } = library;
  return {
    begin: find('intptr_t SSL_CONF_CTX_new()'),
    free: find('void SSL_CONF_CTX_free(intptr_t)'),
    setFlags: find('unsigned int SSL_CONF_CTX_set_flags(intptr_t, unsigned int)'),
    setContext: find('void SSL_CONF_CTX_set_ssl_ctx(intptr_t, intptr_t)'),
    give: find('int SSL_CONF_cmd(intptr_t, void *, void *)'),
    finish: find('int SSL_CONF_CTX_finish(intptr_t)'),
    control: find('long SSL_CTX_ctrl(intptr_t, int, long, void *)'),
    options: find('uint64_t SSL_CTX_get_options(intptr_t)'),
    clearErrors: find('void ERR_clear_error()'),
    errors: bindErrorQueue(library),
    openMemory: find('int memfd_create(void *, unsigned int)'),
  };
}

/** Why OpenSSL cannot be given commands, in words that follow "because"; empty when it can. The first call tries it. */
export function whyNoCommands(): string {
  problem ??= load();
  return problem;
}

function load(): string {
  const library = loadLibrary();
  if (typeof library === 'string') {
    return library;
  }
  try {
    calls = bind(library);
    return '';
  } catch (error) {
    return `OpenSSL cannot be called: ${(error as Error).message}`;
  }
}

/** A text as C has it. */
const ended = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1');

/**
 * Gives commands to a context, for who has asked {@link whyNoCommands}. Returns what is wrong with them; undefined for nothing. nginx:
 * ngx_ssl_conf_commands.
 */
export function giveCommands({ context }: SecureContext, commands: readonly ContextCommand[]): CommandFailure | undefined {
  const ssl = calls!;
  const place = contextAddress(context);
  // The options alone say which versions there are, until some command says more.
  ssl.control(place, SET_LEAST, 0, null);
  ssl.control(place, SET_MOST, TLS_1_3, null);
  ssl.clearErrors();
  const giver = ssl.begin();
  try {
    ssl.setFlags(giver, FLAGS);
    ssl.setContext(giver, place);
    for (const command of commands) {
      const reason = give(ssl, giver, command);
      if (reason !== undefined) {
        return { command, reason };
      }
    }
    return ssl.finish(giver) === 1 ? undefined : { command: undefined, reason: ssl.errors() };
  } finally {
    ssl.free(giver);
    ssl.clearErrors();
  }
}

function give(ssl: Calls, giver: number, { name, value, content }: ContextCommand): string | undefined {
  // Who serves may not be allowed to read what the master has read.
  const file = content === undefined ? -1 : ssl.openMemory(ended('command'), CLOSED_ON_EXEC);
  if (file < 0) {
    return ssl.give(giver, ended(name), ended(value)) > 0 ? undefined : ssl.errors();
  }
  const path = `/proc/self/fd/${file}`;
  try {
    writeSync(file, Buffer.from(content!, 'latin1'));
    return ssl.give(giver, ended(name), ended(path)) > 0 ? undefined : ssl.errors().replaceAll(path, value);
  } finally {
    closeSync(file);
  }
}

/** Whether handshakes of a context that was given commands may end in TLS 1.3. */
export function commandedSpeaks13({ context }: SecureContext): boolean {
  const ssl = calls!;
  const place = contextAddress(context);
  const most = ssl.control(place, GET_MOST, 0, null);
  return Math.floor(ssl.options(place) / NO_TLS_1_3) % 2 === 0 && (most === 0 || most >= TLS_1_3);
}
