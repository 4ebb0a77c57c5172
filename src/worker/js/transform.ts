// The only file that imports sucrase; the build makes it a file of its own with the package in it.
import { Script } from 'node:vm';
import { transform } from 'sucrase';
import { parse } from 'sucrase/dist/parser/index.js';
import { IMPORT } from './dynamic-import.js';
import { type SharedVariable, sharedVariables } from './shared-state.js';

/**
 * Makes a script of an ES module, and takes types off if it has them. Lines stay where they are, so that stack traces fit. `import()`
 * becomes a call of the parameter {@link IMPORT}.
 */
export function toScript(source: string, file: string, typed: boolean): string {
  const { code } = transform(source, {
    // In plain JavaScript `a < b > (c)` is no call, and an import that nothing uses is made for what it does.
    transforms: typed ? ['imports', 'typescript'] : ['imports'],
    filePath: file,
    disableESTransforms: true,
  });
  return exportLast(code.replace(SYNC_IMPORT, `${IMPORT}(...(((...all) => all)(`));
}

/** What sucrase makes of the beginning of `import(`, with as many open brackets as what takes its place. */
const SYNC_IMPORT = /\bPromise\.resolve\(\)\.then\(\(\) => _interopRequireWildcard\d*\(require\(/g;

/** The variables of a module that its functions assign. @throws what is wrong with its syntax. */
export const sharedIn = (source: string, typed: boolean): SharedVariable[] => sharedVariables(source, parse(source, false, typed, false));

/** What sucrase makes of `export default`, and what takes its place. */
const EXPORT = 'exports. default = ';
const LATER = 'var $default = () => (';

/** Braces that are tried, and characters that are looked at, for the end of what is exported. */
const MOST_BRACES = 1000;
const MOST_LENGTH = 64 * 1024;

/** As in njs, an object that a module exports is made once the module has run, wherever the export stands: it may name what follows. */
function exportLast(code: string): string {
  const at = code.indexOf(`${EXPORT}{`);
  if (at === -1 || code.includes(EXPORT, at + 1) || code.includes('$default')) {
    return code;
  }
  const start = at + EXPORT.length;
  let end = start;
  for (let tries = 0; tries < MOST_BRACES; tries++) {
    end = code.indexOf('}', end) + 1;
    if (end === 0 || end - start > MOST_LENGTH) {
      return code;
    }
    if (isExpression(code.slice(start, end))) {
      return endsAt(code, end) ? `${code.slice(0, at)}${LATER}${code.slice(start, end)})${code.slice(end)}\n;${EXPORT}$default();` : code;
    }
  }
  return code;
}

/** Whether an expression that could end here does: what follows behind blanks and comments would not carry it on. */
function endsAt(code: string, end: number): boolean {
  let at = end;
  let line = false;
  for (;;) {
    const rest = code.slice(at, at + 2);
    if (/^\s/.test(rest)) {
      line ||= rest.startsWith('\n');
      at++;
    } else if (rest === '//') {
      const next = code.indexOf('\n', at);
      at = next === -1 ? code.length : next;
    } else if (rest === '/*') {
      const close = code.indexOf('*/', at + 2);
      if (close === -1) {
        return false;
      }
      line ||= code.slice(at, close).includes('\n');
      at = close + 2;
    } else {
      return rest === '' || rest.startsWith(';') || (line && !/^(?:[.([`,?+\-*/%&|^=<>]|in\b|instanceof\b)/.test(code.slice(at, at + 11)));
    }
  }
}

function isExpression(text: string): boolean {
  try {
    return new Script(`(${text})`) !== undefined;
  } catch {
    return false;
  }
}
