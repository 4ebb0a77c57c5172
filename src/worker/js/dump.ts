/** How deep a value is shown. */
const DEEPEST = 16;

/** A value as njs shows it: `{a:['B',1]}`. Texts at the top are shown as they are. nginx: njs_vm_value_dump. */
export const dump = (value: unknown): string => (typeof value === 'string' ? value : shown(value, []));

function shown(value: unknown, around: readonly object[]): string {
  switch (typeof value) {
    case 'string':
      return `'${value}'`;
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return value.name === '' ? '[Function]' : `[Function: ${value.name}]`;
    case 'object':
      return value === null ? 'null' : shownObject(value, around);
    default:
      return String(value);
  }
}

function shownObject(value: object, around: readonly object[]): string {
  if (around.includes(value)) {
    return '[Circular]';
  }
  if (around.length >= DEEPEST) {
    return Array.isArray(value) ? '[Array]' : '[Object]';
  }
  if (value instanceof Error || value instanceof RegExp) {
    return String(value);
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  }
  if (value instanceof Promise) {
    return 'Promise {}';
  }
  const inside = [...around, value];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return `${value.constructor.name} [${[...(value as Uint8Array)].join(',')}]`;
  }
  if (value instanceof ArrayBuffer) {
    return `ArrayBuffer [${[...new Uint8Array(value)].join(',')}]`;
  }
  if (Array.isArray(value)) {
    return `[${value.map((one) => shown(one, inside)).join(',')}]`;
  }
  const own = members(value).map(([name, one]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`}:${shown(one, inside)}`);
  return `{${own.join(',')}}`;
}

/** What objects of the server show of themselves instead of their properties. */
export const SHOWN: unique symbol = Symbol('shown');

const members = (value: object): [string, unknown][] => Object.entries((value as { [SHOWN]?: () => object })[SHOWN]?.() ?? value);
