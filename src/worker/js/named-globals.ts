/** The functions below that stand for a global. */
const ours = new WeakSet<() => unknown>();

/**
 * Makes a global of a name that directives give (`js_import`, `js_preload_object`): its value is what `find` returns whenever code asks,
 * since each location may mean something else by it. A name of Node's stays Node's. nginx: ngx_engine_njs_compile, ngx_js_init_preload_vm.
 */
export function nameGlobal(name: string, find: () => unknown): void {
  const known = Object.getOwnPropertyDescriptor(globalThis, name);
  if (name in globalThis && (known?.get === undefined || !ours.has(known.get))) {
    return;
  }
  ours.add(find);
  // Where nothing can be added, as in a thread that has been confined, there are no such globals.
  Reflect.defineProperty(globalThis, name, {
    get: find,
    set(value: unknown) {
      Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });
}
