// Certificates in their short form (RFC 8879), which Node has no way to: OpenSSL is asked for them, context by context.
import { createSecureContext, type SecureContext } from 'node:tls';
import { contextAddress } from './context-address.js';
import { type ContextCalls, loadContextCalls } from './library.js';

let calls: ContextCalls | undefined;
/** Why certificates cannot be compressed, empty when they can; undefined until that was tried. */
let problem: string | undefined;

/** Why certificates cannot be compressed here, in words that follow "because"; empty when they can. The first call tries it. */
export function whyNoCompression(): string {
  problem ??= tried();
  return problem;
}

function tried(): string {
  const found = loadContextCalls();
  if (typeof found === 'string') {
    return found;
  }
  try {
    if (!found.canCompress(contextAddress(createSecureContext({ ca: [] }).context))) {
      return `the OpenSSL of Node ${process.versions.node} has no compression`;
    }
  } catch (error) {
    return (error as Error).message;
  }
  calls = found;
  return '';
}

/**
 * Has a context's certificates sent in the codings that clients ask for. Returns false when that cannot be. nginx:
 * ngx_ssl_certificate_compression.
 */
export function compressCertificates({ context }: SecureContext): boolean {
  return whyNoCompression() === '' && calls!.compressCertificates(contextAddress(context));
}
