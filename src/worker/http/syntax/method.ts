/** The bits of the request methods that directives such as limit_except and dav_methods name (nginx: NGX_HTTP_GET and so on). */
export const METHOD = {
  UNKNOWN: 0x1,
  GET: 0x2,
  HEAD: 0x4,
  POST: 0x8,
  PUT: 0x10,
  DELETE: 0x20,
  MKCOL: 0x40,
  COPY: 0x80,
  MOVE: 0x100,
  OPTIONS: 0x200,
  PROPFIND: 0x400,
  PROPPATCH: 0x800,
  LOCK: 0x1000,
  UNLOCK: 0x2000,
  PATCH: 0x4000,
  TRACE: 0x8000,
  CONNECT: 0x10000,
} as const;

const bits: { readonly [name: string]: number } = Object.assign(Object.create(null), METHOD);

/** The bit of the method with this name, exactly in capitals; `METHOD.UNKNOWN` for any other name. */
export function methodBit(name: string): number {
  switch (name) {
    case 'GET':
      return METHOD.GET;
    case 'HEAD':
      return METHOD.HEAD;
    case 'POST':
      return METHOD.POST;
    default:
      return name === 'UNKNOWN' ? METHOD.UNKNOWN : (bits[name] ?? METHOD.UNKNOWN);
  }
}
