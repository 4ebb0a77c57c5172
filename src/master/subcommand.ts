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
export const subcommands: readonly Subcommand[] = [];
