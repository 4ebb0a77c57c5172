/** What a name leads to from a module's exports, and the object that it is a member of. */
export function memberOf(exports: unknown, path: readonly string[]): { readonly owner: unknown; readonly value: unknown } {
  let owner: unknown;
  let value = exports;
  for (const name of path) {
    owner = value;
    value = (value as Record<string, unknown> | undefined | null)?.[name];
  }
  return { owner, value };
}

/** The function that a directive names, `module.function` or `module.object.function`; undefined when there is none. */
export function functionOf(exports: unknown, path: readonly string[]): ((...args: unknown[]) => unknown) | undefined {
  const { owner, value } = memberOf(exports, path);
  if (typeof value !== 'function') {
    return undefined;
  }
  const run = value as (...args: unknown[]) => unknown;
  // As in njs, a function of a module has no `this`; a method of an object of some class does.
  return owner === undefined || isLiteralObject(owner) ? run : run.bind(owner);
}

/** Whether an object is of no class. */
export function isLiteralObject(value: unknown): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
