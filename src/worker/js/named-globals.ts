/** The functions below that stand for a global. */
const ours = new WeakSet<() => unknown>();

/**
 * Makes a global of a name that directives give (`js_import`, `js_preload_object`): its value is what `find` returns whenever code asks,
 * since each location may mean something else by it, and `change` is told of another value. A name of Node's stays Node's. nginx:
 * ngx_js_init_conf_vm, ngx_js_init_preload_vm.
 */
export function nameGlobal(name: string, find: () => unknown, change: (value: unknown) => void): void {
  const known = Object.getOwnPropertyDescriptor(globalThis, name);
  if (name in globalThis && (known?.get === undefined || !ours.has(known.get))) {
    return;
  }
  ours.add(find);
  // Where nothing can be added, as in a thread that has been confined, there are no such globals.
  Reflect.defineProperty(globalThis, name, { get: find, set: change, enumerable: true, configurable: true });
}
