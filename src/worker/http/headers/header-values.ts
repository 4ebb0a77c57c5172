import type { Request } from '../request/request.js';

/** Returns all values of a request header, by lower-case name, in the order they were sent. */
export function headerValues(r: Request, name: string): string[] {
  const { names, headers } = r.head;
  const values: string[] = [];
  for (let i = 0; i < names.length; i++) {
    if (names[i] === name) {
      values.push(headers[2 * i + 1]!);
    }
  }
  return values;
}
