/** Names a listening socket: an address, as nginx writes it, can have one of TCP and one of UDP. */
export const listenKey = (text: string, udp: boolean): string => (udp ? `udp ${text}` : text);
