import { resolvePath } from '../../shared/config/paths.js';
import { sharedStateText } from '../../worker/js/scripts.js';
import type { Rule } from './rule.js';
import { effective, enclosing, everything } from './tree.js';

/** `let count = 0;` at the top of a module, and a handler that says `count++`. */
export const sharedState: Rule = {
  name: 'shared-state',
  about: 'a variable at the top of a module of `js_import` that a function assigns: all requests of a worker share it',
  *check(top, { confPrefix }) {
    for (const directive of everything(top)) {
      if (directive.name !== 'js_import') {
        continue;
      }
      const block = directive.parent ?? enclosing(directive, 'http');
      const reuse = block === undefined ? undefined : effective(block, 'js_context_reuse')[0]?.args[0];
      if (reuse === 'off' || reuse === '0') {
        continue;
      }
      const folders = block === undefined ? [] : effective(block, 'js_path').map(({ args }) => args[0] ?? '');
      const complete = folders.map((folder) => resolvePath(folder, confPrefix));
      const arg = directive.args.length - 1;
      const found = sharedStateText(directive.args[arg] ?? '', [confPrefix, ...complete]);
      if (found !== undefined) {
        yield {
          at: directive,
          arg,
          problem: `a module runs once in each worker, and not anew for each request as in njs: requests share ${found}`,
          remedy:
            'declare it in the function, keep it in a `js_var`, use a `js_shared_dict_zone` where sharing is meant, or say `js_context_reuse off`',
        };
      }
    }
  },
};
