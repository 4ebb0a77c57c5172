/** Fields of HTTP/1 that say how it is framed and kept: they mean nothing in HTTP/2 and HTTP/3 (RFC 9113, 8.2.2; RFC 9114, 4.2). */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
