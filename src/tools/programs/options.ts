import { ServeError } from '../subcommands/serve-text.js';

/** Which configuration is meant: exactly one of `directory`, `proxy`, `config` and `configFile`. */
export interface ConfigurationOptions {
  /** Serves this folder. */
  readonly directory?: string;
  /** With `directory`: every path that is no file is answered with /index.html. */
  readonly spa?: boolean;
  /** Passes requests on to this application: its port, `HOST:PORT`, or a URL without a path. */
  readonly proxy?: number | string;
  /** The text of a configuration. Its relative paths start at `prefix`. */
  readonly config?: string;
  /** The path of a configuration. Its relative paths start at its folder, unless `prefix` is given. */
  readonly configFile?: string;
  /** The folder at which relative paths start; with `config`, a folder of its own unless given. */
  readonly prefix?: string;
}

/** What `serve` can be told. */
export interface ServerOptions extends ConfigurationOptions {
  /** The port to listen on; any free one unless given, or with 0. A configuration of your own keeps its port unless this is given. */
  readonly port?: number;
  /** With `directory` and `proxy`, the address to listen on; 127.0.0.1 unless given. */
  readonly host?: string;
  /** With `directory` and `proxy`: logs requests to standard output. */
  readonly log?: boolean;
  /** What becomes of the server's output: of this process's (`inherit`, unless given), or nothing. */
  readonly output?: 'inherit' | 'ignore';
  /** Ends the server when it is aborted. */
  readonly signal?: AbortSignal;
}

const SOURCES = ['directory', 'proxy', 'config', 'configFile'] as const;

type Kind = 'string' | 'boolean' | 'number' | 'number or string' | 'port' | 'output' | 'signal';

const KINDS: Readonly<Record<keyof ServerOptions, Kind>> = {
  directory: 'string',
  spa: 'boolean',
  proxy: 'number or string',
  config: 'string',
  configFile: 'string',
  prefix: 'string',
  port: 'port',
  host: 'string',
  log: 'boolean',
  output: 'output',
  signal: 'signal',
};

const FOR_SERVERS: ReadonlySet<string> = new Set(['port', 'host', 'log', 'output', 'signal']);

/** Options that say where a server that sluice's own configuration describes is; others say it themselves. */
const OF_OUR_OWN = ['host', 'log', 'spa'] as const;

/** Looks whether options make sense. @throws ServeError which one does not, and why */
export function checkOptions(caller: string, options: unknown, serving: boolean): asserts options is ServerOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new ServeError(`${caller} takes an object of options`);
  }
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(KINDS, name) && (serving || !FOR_SERVERS.has(name)) ? KINDS[name as keyof ServerOptions] : undefined;
    if (kind === undefined) {
      throw new ServeError(`${caller} knows no option "${name}"`);
    }
    const problem = value === undefined ? undefined : wrong(kind, value);
    if (problem !== undefined) {
      throw new ServeError(`the option "${name}" of ${caller} ${problem}`);
    }
  }
  const sources = SOURCES.filter((name) => given[name] !== undefined);
  if (sources.length !== 1) {
    throw new ServeError(`${caller} takes one of the options ${SOURCES.map((name) => `"${name}"`).join(', ')}, and got ${sources.length}`);
  }
  const own = sources[0] === 'config' || sources[0] === 'configFile';
  const foreign = OF_OUR_OWN.find((name) => given[name] !== undefined && (own || (name === 'spa' && sources[0] !== 'directory')));
  if (foreign !== undefined) {
    throw new ServeError(`the option "${foreign}" of ${caller} does not go with "${sources[0]}"`);
  }
}

function wrong(kind: Kind, value: unknown): string | undefined {
  switch (kind) {
    case 'port':
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535 ? undefined : 'is no port from 0 to 65535';
    case 'number or string':
      return typeof value === 'number' || typeof value === 'string' ? undefined : 'is neither a number nor a text';
    case 'output':
      return value === 'inherit' || value === 'ignore' ? undefined : 'is neither "inherit" nor "ignore"';
    case 'signal':
      return value instanceof AbortSignal ? undefined : 'is no AbortSignal';
    default:
      return typeof value === kind ? undefined : `is no ${kind}`;
  }
}
