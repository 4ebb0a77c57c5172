import { type ServerStart, serveOptions } from './serve-command.js';

/** One value that a subcommand takes, by `--name VALUE`, or by its place on the command line. */
export interface SubcommandOption {
  readonly name: string;
  readonly describe: string;
  /** Stands without its name, in the order of the declaration. */
  readonly positional?: true;
  readonly required?: true;
  /** Letter of the short form. */
  readonly alias?: string;
  /** A switch instead of a value. */
  readonly flag?: true;
}

/** What a command line gave, by the options' names. */
export type SubcommandValues = Readonly<Record<string, string | boolean | undefined>>;

/** A command beside serving: `sluice NAME ...`. */
export interface Subcommand {
  readonly name: string;
  readonly describe: string;
  readonly options: readonly SubcommandOption[];
  /** Resolves to the exit code, or to the server that is to be started. */
  run(values: SubcommandValues): Promise<number | ServerStart> | number | ServerStart;
}

/** Which server is meant. */
const SERVER: readonly SubcommandOption[] = [
  { name: 'conf', alias: 'c', describe: 'configuration file' },
  { name: 'directory', alias: 'p', describe: 'prefix path of the server' },
  { name: 'globals', alias: 'g', describe: 'global directives out of the configuration file' },
];

/** All subcommands. One more is a file and a line here. */
export const subcommands: readonly Subcommand[] = [
  {
    name: 'serve',
    describe: 'serve a folder; `sluice DIRECTORY` does the same',
    options: [
      { name: 'directory', describe: 'the folder; the present one unless given', positional: true },
      ...serveOptions,
      { name: 'spa', describe: 'answer every path that is no file with /index.html', flag: true },
    ],
    run: async (values) => (await import('./serve-command.js')).runServeCommand(values),
  },
  {
    name: 'proxy',
    describe: 'put this server in front of an application',
    options: [{ name: 'target', describe: 'its port, HOST:PORT or URL', positional: true, required: true }, ...serveOptions],
    run: async (values) => (await import('./serve-command.js')).runProxyCommand(values),
  },
  {
    name: 'run',
    describe: 'serve a configuration in the foreground, and say where',
    options: SERVER,
    run: async (values) => (await import('./run-command.js')).runRunCommand(values),
  },
  {
    name: 'status',
    describe: 'say what runs: since when, which workers, how many connections',
    options: [...SERVER, { name: 'json', describe: 'as one JSON object', flag: true }],
    run: async (values) => (await import('./status-command.js')).runStatusCommand(values),
  },
  {
    name: 'cache',
    describe: 'list, inspect or purge entries of the response caches',
    options: [
      { name: 'action', describe: 'list, inspect or purge', positional: true, required: true },
      ...SERVER,
      { name: 'zone', describe: 'one cache only, by the name of its keys_zone' },
      { name: 'key', describe: 'the entry with this key, and its variants' },
      { name: 'prefix', describe: 'all entries whose keys begin so' },
    ],
    run: async (values) => (await import('./cache-command.js')).runCacheCommand(values),
  },
  {
    name: 'migrate',
    describe: 'say how the directives of an nginx configuration are taken here',
    options: [
      { name: 'file', describe: "nginx's main configuration file", positional: true, required: true },
      { name: 'directory', alias: 'p', describe: 'prefix path; the folder of the file unless given' },
      { name: 'json', describe: 'as one JSON object', flag: true },
    ],
    run: async (values) => (await import('./migrate-command.js')).runMigrateCommand(values),
  },
];
