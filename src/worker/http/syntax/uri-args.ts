import { lowerAscii } from '../../text/ascii-case.js';

/** The value of an argument, undecoded; the name is lower case and compared without case. nginx: ngx_http_arg. */
export function argValue(args: string, name: string): string | undefined {
  let start = 0;
  while (start < args.length) {
    let end = args.indexOf('&', start);
    if (end === -1) {
      end = args.length;
    }
    const equals = start + name.length;
    if (equals < end && args.charCodeAt(equals) === 61) {
      const key = args.slice(start, equals);
      if (key === name || lowerAscii(key) === name) {
        return args.slice(equals + 1, end);
      }
    }
    start = end + 1;
  }
  return undefined;
}
