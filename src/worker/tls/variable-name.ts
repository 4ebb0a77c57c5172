import type { ComplexValue } from '../../shared/value/complex.js';
import { ups } from '../http/syntax/ups.js';
import type { ClientTask } from '../task/client-task.js';
import { DATA, TlsFileError } from './pem.js';

/**
 * The name of a certificate or key for a task, complete by `complete` unless it is a text itself. Throws {@link TlsFileError} when a
 * variable has a `..` that leads out of the folder that the configuration names: clients say what `$ssl_server_name` is. nginx follows it.
 */
export function namedByVariable(value: ComplexValue<ClientTask>, task: ClientTask, complete: (path: string) => string): string {
  const name = value.eval(task);
  if (name === '' || name.startsWith(DATA)) {
    return name;
  }
  if (name.includes('..') && ups(name) > ups(value.text)) {
    throw new TlsFileError(`cannot load certificate "${name}": it leads out of "${value.text}"`);
  }
  return complete(name);
}
