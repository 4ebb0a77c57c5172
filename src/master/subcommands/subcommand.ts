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

/** What the program does beside serving, called by a word: `sluice NAME ...`. */
export interface Subcommand {
  readonly name: string;
  readonly describe: string;
  readonly options: readonly SubcommandOption[];
  /** Resolves to the exit code. */
  run(values: Readonly<Record<string, string | boolean | undefined>>): Promise<number> | number;
}

/** All subcommands. One more is a file and a line here. */
export const subcommands: readonly Subcommand[] = [
  {
    name: 'cache',
    describe: 'list, inspect or purge entries of the response caches',
    options: [
      { name: 'action', describe: 'list, inspect or purge', positional: true, required: true },
      { name: 'conf', alias: 'c', describe: 'configuration file' },
      { name: 'directory', alias: 'p', describe: 'prefix path of the server' },
      { name: 'globals', alias: 'g', describe: 'global directives out of the configuration file' },
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
