import { ConfigErrors, type Configuration, type LoadOptions } from '../../shared/config/configuration.js';
import { defaultStatePath, HISTORY_FOLDER, resolvePath } from '../../shared/config/paths.js';
import { diskSources } from '../../shared/config/sources.js';
import { loadConfiguration } from '../configuration.js';
import { directivesOf } from '../lint/tree.js';

/** Where a running server is found. Paths are full and latin1. */
export interface FoundServer {
  readonly pid: string;
  /** The folder of the configurations that served; undefined when none are kept. */
  readonly history: string | undefined;
  /** What the files say now; the first thing that is wrong with them, where they cannot be loaded. */
  readonly files: Configuration | ConfigErrors;
}

/**
 * Where the server of a configuration is found. The files may be broken now, which is when one wants to know: then what can be read of them
 * counts.
 */
export async function findServer(options: LoadOptions): Promise<FoundServer> {
  try {
    const configuration = await loadConfiguration(options);
    const { pid, history } = configuration.process;
    return { pid, history, files: configuration };
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    const directives = directivesOf(diskSources(options));
    const said = (directive: string): string | undefined => directives.find(({ name }) => name === directive)?.args[0];
    const { prefix } = options;
    const history = said('configuration_history') ?? defaultStatePath(HISTORY_FOLDER, prefix);
    return {
      pid: resolvePath(said('pid') ?? options.pid, prefix),
      history: history === 'off' ? undefined : resolvePath(history, prefix),
      files: error,
    };
  }
}
