/** A token of HTTP, as names of headers and methods are (RFC 9110, 5.6.2). */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
