/** The longest path of a Unix-domain socket in bytes: the size of sun_path less the zero at its end. */
export const LONGEST_SOCKET_PATH = 107;
