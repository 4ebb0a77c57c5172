/** The variable in which nginx, and this server, tell a new executable the descriptors of its sockets: `6;7;`. */
export const INHERITED = 'NGINX';
