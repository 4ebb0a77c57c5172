// The OpenSSL that Node itself uses, whose functions the executable exports. Whoever passes an address on takes care that it is still one.
import { type Library, loadLibrary } from '../../../shared/native/native.js';
import { bindErrorQueue } from './error-queue.js';

/** What SSL_get_error says of a call that brought nothing. */
export const WANT_READ = 2;
export const ZERO_RETURN = 6;

const NO_RENEGOTIATION = 0x40000000;
/** SSL_OP_NO_TX_CERTIFICATE_COMPRESSION and SSL_OP_NO_RX_CERTIFICATE_COMPRESSION. */
const NO_COMPRESSED_CERTIFICATES = 2 ** 32;
const NO_COMPRESSED_FROM_CLIENTS = 2 ** 33;
/** TLSEXT_comp_cert_brotli, _zstd and _zlib: what makes certificates shortest first. */
const CODINGS = new Int32Array([2, 3, 1]);
/** SSL_OP_NO_ANTI_REPLAY: without it, tickets name sessions that one worker alone knows. */
const NO_ANTI_REPLAY = 2 ** 24;
const HELLO_GOES_ON = 1;
/** SSL_CTRL_SET_TLSEXT_SERVERNAME_CB. */
const SET_SERVER_NAME_CALLBACK = 53;
/** Bytes of a name, at most. */
const NAME_LENGTH = 256;
/** SSL_get_negotiated_group, SSL_get0_signature_name and SSL_get0_peer_signature_name; the last two came with OpenSSL 3.5. */
const [GET_GROUP, GET_SIGNATURE, GET_PEER_SIGNATURE] = [134, 140, 141];
/** TLSEXT_nid_unknown: a group that OpenSSL has no number of its own for. */
const UNKNOWN_GROUP = 0x1000000;

/** What {@link OpenSsl.readEarly} says. */
export const EARLY_READ = 1;
export const EARLY_OVER = 2;

/** OpenSSL's functions, on addresses of what they work on. */
export interface OpenSsl {
  /** Has `seen` called with each connection of a server's context whose hello comes. */
  watchHellos(context: number): void;
  /** Has `seen` called with each connection of a client's context for all that it says, until {@link stopWatching}. */
  watchMessages(context: number): void;
  stopWatching(ssl: number): void;
  /** The context of a connection. */
  contextOf(ssl: number): number;
  /** Where a connection takes records from, and where it puts them. */
  input(ssl: number): number;
  output(ssl: number): number;
  /**
   * Has a connection keep records in memory that V8 is not told of, tell Node no more of handshakes, and let nobody begin another one:
   * these calls are made on a stack of koffi's, where V8 ends the process if it is to collect garbage. `input`, `output`: those of the
   * connection; what they hold stays.
   */
  leaveNode(ssl: number, input: number, output: number): void;
  /** Forgets what went wrong in this thread so far. */
  clearErrors(): void;
  /** Makes a server's connection as new, after its first bytes; Node is asked no more about names that clients of its context send. */
  startAnew(ssl: number): void;
  /** SSL_read_early_data, which also shakes hands: {@link EARLY_READ}, the length in `count`, {@link EARLY_OVER}, or 0 as for others. */
  readEarly(ssl: number, into: Buffer, length: number, count: BigUint64Array): number;
  /** SSL_write_early_data: encrypts for a client that has not finished its handshake. Returns 1 unless the connection is broken. */
  writeEarly(ssl: number, bytes: Buffer, length: number, count: BigUint64Array): number;
  /** The handshake is over: who is there has shown that it is there now. */
  finished(ssl: number): boolean;
  /** What went wrong, as OpenSSL writes it: error:CODE:LIBRARY::REASON, and :DATA where there is some. Empty when nothing did. */
  errors(): string;
  /** SSL_read: decrypts into memory of so many bytes. */
  read(ssl: number, into: Buffer, length: number): number;
  /** SSL_write: the bytes' length, unless the connection is broken. */
  write(ssl: number, bytes: Buffer, length: number): number;
  /** SSL_get_error for what a call returned. */
  error(ssl: number, result: number): number;
  /** SSL_shutdown: puts an alert into the output that says that this is the end. */
  shutdown(ssl: number): number;
  /** The name of the group of the key exchange; empty where there was none. nginx: ngx_ssl_get_curve. */
  group(ssl: number): string;
  /** The name of the algorithm by which this end has signed the handshake, or the other one; empty where nobody has. */
  signature(ssl: number): string;
  peerSignature(ssl: number): string;
  /** Whether a later connection can go on with the session that a connection has now. */
  resumable(ssl: number): boolean;
  /** Has another ticket leave where the client has come with one. Nothing is done while the handshake lasts. */
  renewTicket(ssl: number): void;
  /** BIO_write and BIO_read. */
  put(bio: number, bytes: Buffer, length: number): number;
  take(bio: number, into: Buffer, length: number): number;
  /** How many bytes a BIO holds. */
  waiting(bio: number): number;
}

/** OpenSSL's functions; `seen` is told of hellos. Or why they are not to be had. */
export function loadOpenSsl(seen: (ssl: number) => void): OpenSsl | string {
  const library = loadLibrary();
  if (typeof library === 'string') {
    return library;
  }
  try {
    return bind(library, seen);
  } catch (error) {
    return `OpenSSL cannot be called: ${(error as Error).message}`;
  }
}

/** What is done to contexts, by their addresses. */
export interface ContextCalls {
  /** Makes the context's certificates ready to leave in all codings that OpenSSL has here. Returns false when none is left to send. */
  compressCertificates(context: number): boolean;
  /** Has a context's tickets allow so many bytes of early data, as often as a ticket is used. */
  allowEarlyData(context: number, bytes: number): void;
  /** Has a server's context keep no errors of the check of a client's certificate but its verdict. */
  clearAfterChecks(context: number): void;
  /** Whether OpenSSL can compress certificates, which this context shows. It is not to be used for anything else. */
  canCompress(context: number): boolean;
}

let contextCalls: ContextCalls | string | undefined;

/** What OpenSSL does to contexts, or why it cannot be asked to. */
export function loadContextCalls(): ContextCalls | string {
  // koffi takes the name of a callback's type only once.
  contextCalls ??= bindContextCalls();
  return contextCalls;
}

function bindContextCalls(): ContextCalls | string {
  const library = loadLibrary();
  if (typeof library === 'string') {
    return library;
  }
  try {
    const compress = library.find('int SSL_CTX_compress_certs(intptr_t, int)');
    const setOptions = library.find('uint64_t SSL_CTX_set_options(intptr_t, uint64_t)');
    const clearOptions = library.find('uint64_t SSL_CTX_clear_options(intptr_t, uint64_t)');
    const prefer = library.find('int SSL_CTX_set1_cert_comp_preference(intptr_t, void *, size_t)');
    const allow = library.find('int SSL_CTX_set_max_early_data(intptr_t, uint32_t)');
    const setCheck = library.find('void SSL_CTX_set_cert_verify_callback(intptr_t, void *, intptr_t)');
    const check = library.find('int X509_verify_cert(intptr_t)');
    const clearErrors = library.find('void ERR_clear_error()');
    const checkAndClear = library.callback('int SluiceCheck(intptr_t, intptr_t)', (certificates) => {
      const result = check(certificates!);
      clearErrors();
      return Math.max(0, result);
    });
    return {
      allowEarlyData(context, bytes) {
        allow(context, bytes);
        setOptions(context, NO_ANTI_REPLAY);
      },
      compressCertificates(context) {
        setOptions(context, NO_COMPRESSED_FROM_CLIENTS);
        clearOptions(context, NO_COMPRESSED_CERTIFICATES);
        return prefer(context, CODINGS, CODINGS.length) === 1 && compress(context, 0) > 0;
      },
      clearAfterChecks: (context) => setCheck(context, checkAndClear, 0),
      canCompress: (context) => prefer(context, CODINGS, CODINGS.length) === 1,
    };
  } catch (error) {
    return `OpenSSL cannot be called: ${(error as Error).message}`;
  }
}

function bind(library: Library, seen: (ssl: number) => void): OpenSsl {
  const { find } = library;
  const setHelloCallback = find('void SSL_CTX_set_client_hello_cb(intptr_t, void *, intptr_t)');
  const setOptions = find('uint64_t SSL_set_options(intptr_t, uint64_t)');
  const hello = library.callback('int SluiceHello(intptr_t, intptr_t, intptr_t)', (ssl) => {
    seen(ssl!);
    return HELLO_GOES_ON;
  });
  const setMessageCallback = find('void SSL_CTX_set_msg_callback(intptr_t, void *)');
  const removeMessageCallback = find('void SSL_set_msg_callback(intptr_t, intptr_t)');
  const message = library.callback('void SluiceMessage(int, int, int, intptr_t, size_t, intptr_t, intptr_t)', (...said) => {
    seen(said[5]!);
    return undefined;
  });
  const sessionOf = find('intptr_t SSL_get_session(intptr_t)');
  const isResumable = find('int SSL_SESSION_is_resumable(intptr_t)');
  const isReused = find('int SSL_session_reused(intptr_t)');
  const newTicket = find('int SSL_new_session_ticket(intptr_t)');
  const handshake = find('int SSL_do_handshake(intptr_t)');
  const setInfoCallback = find('void SSL_set_info_callback(intptr_t, intptr_t)');
  const clear = find('int SSL_clear(intptr_t)');
  const isFinished = find('int SSL_is_init_finished(intptr_t)');
  const control = find('long SSL_ctrl(intptr_t, int, long, void *)');
  const groupOfNumber = find('str OBJ_nid2sn(int)') as unknown as (number: number) => string | null;
  const groupName = find('str SSL_group_to_name(intptr_t, int)') as unknown as (ssl: number, group: number) => string | null;
  const copyText = find('intptr_t strncpy(void *, intptr_t, size_t)');
  const text = Buffer.alloc(NAME_LENGTH);
  const found = new BigUint64Array(1);
  const nameOf = (ssl: number, question: number): string => {
    found[0] = 0n;
    if (control(ssl, question, 0, found) <= 0 || found[0] === 0n) {
      return '';
    }
    copyText(text, Number(found[0]), text.length - 1);
    return text.toString('latin1', 0, text.indexOf(0));
  };
  const contextOf = find('intptr_t SSL_get_SSL_CTX(intptr_t)');
  const put = find('int BIO_write(intptr_t, void *, int)');
  const take = find('int BIO_read(intptr_t, void *, int)');
  const waiting = find('size_t BIO_ctrl_pending(intptr_t)');
  const another = find('intptr_t BIO_dup_chain(intptr_t)');
  const getData = find('intptr_t BIO_get_data(intptr_t)');
  const setData = find('void BIO_set_data(intptr_t, intptr_t)');
  const free = find('int BIO_free(intptr_t)');
  const contextCallback = find('long SSL_CTX_callback_ctrl(intptr_t, int, intptr_t)');
  /** Node goes on with the same BIO, of which it keeps the address; another one of its kind has memory that no isolate is told of. */
  const changeMemory = (bio: number): void => {
    const fresh = another(bio);
    if (fresh === 0) {
      return;
    }
    const length = waiting(bio);
    const came = length > 0 ? Buffer.alloc(length) : undefined;
    if (came !== undefined) {
      take(bio, came, length);
    }
    const data = getData(bio);
    setData(bio, getData(fresh));
    setData(fresh, data);
    free(fresh);
    if (came !== undefined) {
      put(bio, came, length);
    }
  };
  return {
    watchHellos: (context) => setHelloCallback(context, hello, 0),
    watchMessages: (context) => setMessageCallback(context, message),
    stopWatching: (ssl) => removeMessageCallback(ssl, 0),
    contextOf,
    input: find('intptr_t SSL_get_rbio(intptr_t)'),
    output: find('intptr_t SSL_get_wbio(intptr_t)'),
    leaveNode(ssl, input, output) {
      setInfoCallback(ssl, 0);
      setOptions(ssl, NO_RENEGOTIATION);
      changeMemory(input);
      changeMemory(output);
    },
    startAnew(ssl) {
      contextCallback(contextOf(ssl), SET_SERVER_NAME_CALLBACK, 0);
      removeMessageCallback(ssl, 0);
      clear(ssl);
    },
    readEarly: find('int SSL_read_early_data(intptr_t, void *, size_t, void *)'),
    writeEarly: find('int SSL_write_early_data(intptr_t, void *, size_t, void *)'),
    finished: (ssl) => isFinished(ssl) === 1,
    clearErrors: find('void ERR_clear_error()'),
    errors: bindErrorQueue(library),
    read: find('int SSL_read(intptr_t, void *, int)'),
    write: find('int SSL_write(intptr_t, void *, int)'),
    error: find('int SSL_get_error(intptr_t, int)'),
    shutdown: find('int SSL_shutdown(intptr_t)'),
    group(ssl) {
      const group = control(ssl, GET_GROUP, 0, null);
      if (group <= 0) {
        return '';
      }
      if ((group & UNKNOWN_GROUP) === 0) {
        return groupOfNumber(group) ?? '';
      }
      return groupName(ssl, group) ?? `0x${(group & 0xffff).toString(16).padStart(4, '0')}`;
    },
    signature: (ssl) => nameOf(ssl, GET_SIGNATURE),
    peerSignature: (ssl) => nameOf(ssl, GET_PEER_SIGNATURE),
    resumable(ssl) {
      const session = sessionOf(ssl);
      return session !== 0 && isResumable(session) === 1;
    },
    renewTicket(ssl) {
      if (isReused(ssl) === 1 && newTicket(ssl) === 1) {
        handshake(ssl);
      }
    },
    put,
    take,
    waiting,
  };
}
