// Node: 80DC4BAD:error:0A00041A:SSL routines:ssl3_read_bytes:tlsv1 alert decode error:../deps/FILE.c:1601:SSL alert number 50
const NODE = /(error:[0-9A-F]{8}):([^:]*):[^:]*:([^:]*)(?::[^:]*:\d+:(.*))?/;

/** OpenSSL's text in the message of an error of Node's, as nginx logs it: without functions and files; undefined where there is none. */
export function opensslText(message: string): string | undefined {
  const parts = NODE.exec(message);
  if (parts === null) {
    return undefined;
  }
  const extra = parts[4]?.trim();
  return `${parts[1]}:${parts[2]}::${parts[3]!.trim()}${extra ? `:${extra}` : ''}`;
}
