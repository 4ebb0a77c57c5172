import { existsSync } from 'node:fs';
import { fsPath } from '../files/fs-path.js';
import type { Subject } from '../value/subject.js';
import type { ConfigBuilder } from './apply.js';
import { type ConfigError, directiveError, reportedPos } from './errors.js';
import type { Language } from './language-contract.js';

/**
 * Checks each `load_module` once the configuration is read; no module is ever loaded. A module is missed when a directive that sluice
 * does not know is, or may be, one of its own. That is an error, and so are a missing file and a module named twice; everything else is a
 * warning. `checking` is false in a worker, since the master has checked. nginx: ngx_load_module.
 */
export function judgeNativeModules<R extends Subject>(draft: ConfigBuilder<R>, language: Language<R>, checking: boolean): void {
  if (!checking) {
    return;
  }
  const refused: ConfigError[] = [];
  const seen = new Set<string>();
  for (const { node, path } of draft.natives) {
    const object = path.slice(path.lastIndexOf('/') + 1).replace(/\.so$/, '');
    const known = language.nativeModule(object);
    const ignored = (why: string): void =>
      void draft.warnings.push({ level: 'warn', message: `"load_module" of "${object}" is ignored: ${why}`, pos: reportedPos(node) });
    if (known === undefined && !existsSync(fsPath(path))) {
      refused.push(
        directiveError(node, `dlopen() "${path}" failed (${path}: cannot open shared object file: No such file or directory)`, { arg: 0 }),
      );
      continue;
    }
    if (seen.has(object)) {
      refused.push(directiveError(node, `module "${object}" is already loaded`, { arg: 0 }));
      continue;
    }
    seen.add(object);
    if (known?.builtIn) {
      ignored('it is built in');
      continue;
    }
    const missed = draft.unknown.find(({ name }) => (known === undefined ? isUnclaimed(language, name) : known.has(name)));
    if (missed === undefined) {
      ignored('nothing in the configuration uses it');
      continue;
    }
    refused.push(
      directiveError(node, `"load_module" of "${object}" is not possible: sluice loads no nginx modules`, {
        arg: 0,
        related: [{ pos: reportedPos(missed), text: `\`${missed.name}\` ${known === undefined ? 'may be' : 'is'} one of its directives` }],
      }),
    );
  }
  draft.errors.unshift(...refused);
}

/** No other module is known to have this directive. */
const isUnclaimed = <R extends Subject>(language: Language<R>, directive: string): boolean =>
  language.missingModule(directive) === undefined && language.foreignDirective(directive) === undefined;
