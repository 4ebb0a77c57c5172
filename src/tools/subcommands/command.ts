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
  /** Takes all the words that remain. */
  readonly many?: true;
}

/** What a command line gave, by the options' names. */
export type SubcommandValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** A command beside serving: `sluice NAME ...`. */
export interface Subcommand {
  readonly name: string;
  readonly describe: string;
  readonly options: readonly SubcommandOption[];
  /** From this word on, all words are the value of that name, whatever they look like. */
  readonly verbatim?: string;
  /** Resolves to the exit code, or to the server that is to be started. */
  run(values: SubcommandValues): Promise<number | ServerStart> | number | ServerStart;
}

/** Goes on as a server in the foreground, with these arguments of nginx's command line. */
export interface ServerStart {
  readonly args: readonly string[];
  /** Called once clients are answered, with where. */
  readonly ready: (urls: readonly string[]) => void;
}
