/** Names what is listened on: an address, as nginx writes it, can have sockets of TCP and of UDP. */
export const listenKey = (text: string, udp: boolean): string => (udp ? `udp ${text}` : text);

/** Names one socket: with `reuseport`, each worker has one of its own. */
export const socketKey = ({ key, worker = 0 }: { readonly key: string; readonly worker?: number | undefined }): string =>
  worker === 0 ? key : `${key} ${worker}`;
