type Fields = readonly (readonly [name: string, value: string])[];

/** The value of a field of this name; empty for none. */
export const fieldValue = (fields: Fields, name: string): string => fields.find(([each]) => each === name)?.[1] ?? '';

/** The value of a header whose name, in whatever case, is this one in lower case. */
export const headerValue = (headers: Fields, name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1];
