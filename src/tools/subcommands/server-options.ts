import { loadOptions } from '../../master/command-line/places.js';
import type { LoadOptions } from '../../shared/config/configuration.js';
import { byteText } from '../../shared/text/native-text.js';
import type { SubcommandValues } from './command.js';

/** A value of a subcommand's command line, one character for a byte; undefined when it was not given. */
export function textValue(values: SubcommandValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? byteText(value) : undefined;
}

/** How the configuration of the server is read that a subcommand's `--conf`, `--directory` and `--globals` name. */
export function serverOptions(values: SubcommandValues, signal: 'quit' | undefined): LoadOptions {
  return loadOptions({
    prefix: textValue(values, 'directory'),
    conf: textValue(values, 'conf'),
    globals: textValue(values, 'globals'),
    errorLog: undefined,
    signal,
  });
}

/** The options of the server that a subcommand's `--conf` and `--directory` stand for; messages go to the terminal. */
export function givenOptions(values: SubcommandValues): string[] {
  const given = (name: string, option: string): string[] => (typeof values[name] === 'string' ? [option, values[name]] : []);
  return [...given('directory', '-p'), ...given('conf', '-c'), '-e', 'stderr'];
}

/** The directives of `--globals` and `--port` for a server that is started, with a space before them. */
export function givenGlobals({ globals, port }: SubcommandValues): string {
  return (
    (typeof port === 'string' ? ` dev_port "${port.replace(/["\\]/g, '')}";` : '') + (typeof globals === 'string' ? ` ${globals}` : '')
  );
}
