// Early data of TLS 1.3: what a client sends before its handshake is over, which whoever has seen it can send once more.
import { createSecureContext, type SecureContext } from 'node:tls';
import { contextAddress } from './context-address.js';
import { type ContextCalls, loadContextCalls } from './library.js';
import { whyNoRecords } from './records.js';

/** As much as nginx lets a client send early. nginx: NGX_SSL_BUFSIZE. */
const MOST = 16384;

let calls: ContextCalls | undefined;
/** Why there is no early data, empty where there is; undefined until that was tried. */
let problem: string | undefined;

/** Why early data cannot be had here, in words that follow "because"; empty where it can. The first call tries it. */
export function whyNoEarlyData(): string {
  problem ??= tried();
  return problem;
}

function tried(): string {
  const why = whyNoRecords();
  if (why !== '') {
    return why;
  }
  const found = loadContextCalls();
  if (typeof found === 'string') {
    return found;
  }
  try {
    contextAddress(createSecureContext({ ca: [] }).context);
  } catch (error) {
    return (error as Error).message;
  }
  calls = found;
  return '';
}

/** Has a context give out tickets with which a client may send early data. nginx: ngx_ssl_early_data. */
export function allowEarlyData({ context }: SecureContext): void {
  if (whyNoEarlyData() === '') {
    calls!.allowEarlyData(contextAddress(context), MOST);
  }
}
