import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { defaultPlaces } from '../../master/command-line/places.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { errnoText } from '../../shared/system/errno.js';
import { IS_EXECUTABLE } from '../../shared/system/executable.js';
import { byteText } from '../../shared/text/native-text.js';
import { hasNobody, isClosedToNobody } from './closed-to-nobody.js';
import type { ServerStart, SubcommandOption, SubcommandValues } from './command.js';
import { directoryConfiguration, proxyConfiguration, ServeError, type ServeOptions } from './serve-text.js';

/** The options of `sluice DIRECTORY` and `sluice proxy`. */
export const serveOptions: readonly SubcommandOption[] = [
  { name: 'port', describe: 'port to listen on; 8080 unless given, or the next free one' },
  { name: 'host', describe: 'address to listen on; 127.0.0.1 unless given' },
  { name: 'log', describe: 'log requests on standard output', flag: true },
  { name: 'print-config', describe: 'print the configuration instead of serving it', flag: true },
];

/** How many ports after the usual one are tried. */
const MORE_PORTS = 20;

/** Serves a folder, or prints the configuration that does. */
export function runServeCommand(values: SubcommandValues): Promise<number | ServerStart> {
  const given = typeof values.directory === 'string' ? values.directory : '.';
  const directory = byteText(resolve(given));
  return serve(
    values,
    given,
    directory,
    (place) => directoryConfiguration({ ...place, directory, spa: values.spa === true }),
    () => {
      if (!statSync(fsPath(directory)).isDirectory()) {
        throw new ServeError(`"${given}" is no folder`);
      }
    },
  );
}

/** Serves an application, or prints the configuration that does. */
export async function runProxyCommand(values: SubcommandValues): Promise<number | ServerStart> {
  const given = String(values.target);
  const target = await whereItAnswers(given);
  return serve(
    values,
    given,
    undefined,
    (place) => proxyConfiguration({ ...place, target: byteText(target) }),
    () => {},
  );
}

async function serve(
  values: SubcommandValues,
  what: string,
  directory: string | undefined,
  configuration: (place: ServeOptions) => string,
  check: () => void,
): Promise<number | ServerStart> {
  try {
    check();
    const host = typeof values.host === 'string' ? values.host : '127.0.0.1';
    const printed = values['print-config'] === true;
    const port = values.port !== undefined ? portOf(String(values.port)) : printed ? 8080 : await freePort(host);
    const text = configuration({ host: byteText(host), port, log: values.log === true, types: mediaTypes() });
    if (printed) {
      process.stdout.write(text, 'latin1');
      return EXIT.OK;
    }
    return start(text, what, directory);
  } catch (error) {
    process.stderr.write(`sluice: ${error instanceof ServeError ? error.message : `"${what}" cannot be served (${errnoText(error)})`}\n`);
    return EXIT.USAGE;
  }
}

/** The media types that are shipped, beside the default configuration. */
export function mediaTypes(): string {
  // A single executable brings them with it; its default configuration is somebody's own.
  const { prefix, conf } = defaultPlaces(IS_EXECUTABLE);
  const folder = (conf.startsWith('/') ? conf : prefix + conf).replace(/[^/]*$/, '');
  return readFileSync(fsPath(`${folder}mime.types`), 'latin1');
}

/** For a port alone, the one of this machine's two addresses on which it answers now; both stay possible when none does. */
async function whereItAnswers(target: string): Promise<string> {
  const port = /^:?(\d{1,5})$/.exec(target)?.[1];
  if (port === undefined || Number(port) > 65_535) {
    return target;
  }
  for (const host of ['127.0.0.1', '::1']) {
    const answers = await new Promise<boolean>((done) => {
      const probe = connect({ host, port: Number(port) }, () => probe.destroy());
      probe.once('error', () => done(false)).once('close', (failed) => done(!failed));
    });
    if (answers) {
      return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    }
  }
  return target;
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text)) {
    throw new ServeError(`"${text}" is no port: it is a number from 1 to 65535`);
  }
  return Number(text);
}

/** The usual port, or one of the next when it is taken. */
async function freePort(host: string): Promise<number> {
  for (let port = 8080; port < 8080 + MORE_PORTS; port++) {
    const free = await new Promise<boolean>((done) => {
      const probe = createServer();
      probe.once('error', (error: NodeJS.ErrnoException) => done(error.code !== 'EADDRINUSE'));
      probe.listen({ port, host, exclusive: true }, () => probe.close(() => done(true)));
    });
    if (free) {
      return port;
    }
  }
  throw new ServeError(`the ports from 8080 to ${8080 + MORE_PORTS - 1} are in use: choose one with --port`);
}

/** Puts the configuration into a folder of its own, which goes when the server ends. */
function start(text: string, what: string, directory: string | undefined): ServerStart {
  const prefix = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  process.once('exit', () => rmSync(prefix, { recursive: true, force: true }));
  // Workers of a server that root starts become nobody, and keep bodies of requests here.
  chmodSync(prefix, 0o711);
  mkdirSync(`${prefix}/logs`);
  writeFileSync(`${prefix}/sluice.conf`, text, 'latin1');
  let globals = 'daemon off; configuration_history off;';
  if (!hasNobody()) {
    process.stderr.write('sluice: this machine has no user nobody, so the workers stay root\n');
    globals += ' user root;';
  } else if (directory !== undefined && isClosedToNobody(directory)) {
    process.stderr.write(`sluice: ${what} is closed to the user nobody, so the workers stay root\n`);
    globals += ' user root;';
  }
  return {
    args: ['-p', prefix, '-c', 'sluice.conf', '-e', 'stderr', '-g', globals],
    ready: (urls) => void process.stdout.write(`sluice: serving ${what} on ${urls.join(', ')} (Ctrl-C stops it)\n`),
  };
}
