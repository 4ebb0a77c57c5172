/** Up to this size pieces are put together for a plain socket, which costs less than to give them to the kernel one by one. */
export const JOIN_LIMIT = 16 * 1024;
/** Up to this size pieces are put together for a cipher, which makes records of what it gets at once. */
export const CIPHER_LIMIT = 32 * 1024;
/** How much may be offered to a cipher, which takes all of it: a slow client's connection holds as much. */
export const CIPHER_OFFER = 128 * 1024;

/** Milliseconds that a closed connection's last bytes have to leave. */
export const LAST_BYTES = 60_000;
