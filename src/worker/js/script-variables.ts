const declared = new WeakMap<object, string[]>();

/** The names that `js_var` has given in the configuration that a table of variables belongs to; to be added to while that is read. */
export function jsVariables(table: object): string[] {
  let names = declared.get(table);
  if (names === undefined) {
    names = [];
    declared.set(table, names);
  }
  return names;
}

/** The names of `js_var` that begin so. @throws TypeError for a prefix that is no text. */
export function jsVariableNames(table: object, prefix: unknown): string[] {
  if (prefix !== undefined && typeof prefix !== 'string') {
    throw new TypeError('prefix must be a string');
  }
  return jsVariables(table).filter((name) => name.startsWith(prefix ?? ''));
}
