// Whether a server's connections have sessions at all, of which Node lets nobody say no.
import type { SecureContext } from 'node:tls';
import { loadLibrary } from '../../../shared/native/native.js';
import { contextAddress } from './context-address.js';

/** SSL_CTX_set_session_cache_mode, and SSL_SESS_CACHE_OFF. */
const [SET_MODE, OFF] = [44, 0];

/**
 * Has a context tell clients that they cannot resume a session by its number: it gives none. Where OpenSSL cannot be asked, clients get a
 * number that nobody knows later. nginx: NGX_SSL_NO_SCACHE.
 */
export function forbidSessions({ context }: SecureContext): void {
  const library = loadLibrary();
  if (typeof library !== 'string') {
    library.find('long SSL_CTX_ctrl(intptr_t, int, long, void *)')(contextAddress(context), SET_MODE, OFF, null);
  }
}
