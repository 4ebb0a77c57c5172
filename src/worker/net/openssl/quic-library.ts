// The functions of Node's OpenSSL that QUIC needs, on addresses. Whoever passes an address on takes care that it is still one.
import { type Library, loadLibrary, loadNative, type Native } from '../../../shared/native/native.js';
import { Region } from '../../../shared/net/uring/memory.js';

type Call = (...args: unknown[]) => number;

/** EVP, HMAC and what else protects packets. Sizes are bytes; functions of OpenSSL's return 1 where they work. */
export interface EvpCalls {
  newContext: Call;
  freeContext: Call;
  /** EVP_CipherInit_ex2: context, cipher, key, iv, whether it encrypts, parameters. */
  init: Call;
  control: Call;
  /** EVP_Cipher: context, where to, what, how many bytes; in either direction. */
  cipher: Call;
  /** EVP_CipherFinal_ex: context, where to, where the length goes. */
  final: Call;
  setPadding: Call;
  /** EVP_CIPHER_fetch: done once for each cipher, which a look-up at each use would cost much more than. */
  fetch: Call;
  /** HMAC: digest, key, its length, data, its length, where to, where the length goes. */
  hmac: Call;
  sha256: number;
  sha384: number;
}

/** SSL with callbacks of its own for QUIC. */
export interface SslCalls {
  create: Call;
  free: Call;
  acceptState: Call;
  handshake: Call;
  error: Call;
  isFinished: Call;
  newTicket: Call;
  sessionReused: Call;
  currentCipher: Call;
  pendingCipher: Call;
  session: Call;
  sessionCipher: Call;
  sessionId: Call;
  decodeSession: Call;
  setNewSession: Call;
  setFindSession: Call;
  cipherId: Call;
  encodeSession: Call;
  groupName: Call;
  earlyStatus: Call;
  setCallbacks: Call;
  setParameters: Call;
  enableEarly: Call;
  setMaxEarly: Call;
  setContextOptions: Call;
  setAlpnCallback: Call;
  contextCallbackControl: Call;
  control: Call;
  setVerify: Call;
  setVerifyDepth: Call;
  verifyResult: Call;
  peerCertificate: Call;
  encodeCertificate: Call;
  freeCertificate: Call;
  clearErrors: Call;
  nextError: Call;
  describeError: Call;
  copy: Call;
  allocate: Call;
  verifyText: Call;
}

/** All of it. */
export interface QuicCalls {
  readonly native: Native;
  readonly library: Library;
  readonly evp: EvpCalls;
  readonly ssl: SslCalls;
}

let loaded: QuicCalls | string | undefined;

/** The functions, or why QUIC cannot be had here, in words that follow "because". The first call tries them. */
export function loadQuicCalls(): QuicCalls | string {
  loaded ??= load();
  return loaded;
}

/** Why there is no QUIC, empty where there is. */
export function whyNoQuic(): string {
  const found = loadQuicCalls();
  return typeof found === 'string' ? found : '';
}

/** Memory of this process at an address that stays, of so many bytes. */
export function quicMemory(bytes: number): Region {
  return Region.map(quicCalls().native, bytes);
}

/** The functions, for who has asked {@link whyNoQuic}. */
export function quicCalls(): QuicCalls {
  const found = loadQuicCalls();
  if (typeof found === 'string') {
    throw new Error(found);
  }
  return found;
}

function load(): QuicCalls | string {
  const native = loadNative();
  if (typeof native === 'string') {
    return native;
  }
  const library = loadLibrary();
  if (typeof library === 'string') {
    return library;
  }
  try {
    return { native, library, evp: bindEvp(library), ssl: bindSsl(library) };
  } catch {
    return "this Node's OpenSSL has no functions for QUIC, which OpenSSL 3.5 brings";
  }
}

function bindEvp({ find }: Library): EvpCalls {
  return {
    newContext: find('intptr_t EVP_CIPHER_CTX_new()'),
    freeContext: find('void EVP_CIPHER_CTX_free(intptr_t)'),
    init: find('int EVP_CipherInit_ex2(intptr_t, intptr_t, intptr_t, intptr_t, int, intptr_t)'),
    control: find('int EVP_CIPHER_CTX_ctrl(intptr_t, int, int, intptr_t)'),
    cipher: find('int EVP_Cipher(intptr_t, intptr_t, intptr_t, uint32_t)'),
    final: find('int EVP_CipherFinal_ex(intptr_t, intptr_t, intptr_t)'),
    setPadding: find('int EVP_CIPHER_CTX_set_padding(intptr_t, int)'),
    fetch: find('intptr_t EVP_CIPHER_fetch(intptr_t, str, intptr_t)'),
    hmac: find('intptr_t HMAC(intptr_t, intptr_t, int, intptr_t, size_t, intptr_t, intptr_t)'),
    sha256: find('intptr_t EVP_sha256()')(),
    sha384: find('intptr_t EVP_sha384()')(),
  };
}

function bindSsl({ find }: Library): SslCalls {
  return {
    create: find('intptr_t SSL_new(intptr_t)'),
    free: find('void SSL_free(intptr_t)'),
    acceptState: find('void SSL_set_accept_state(intptr_t)'),
    handshake: find('int SSL_do_handshake(intptr_t)'),
    error: find('int SSL_get_error(intptr_t, int)'),
    isFinished: find('int SSL_is_init_finished(intptr_t)'),
    newTicket: find('int SSL_new_session_ticket(intptr_t)'),
    sessionReused: find('int SSL_session_reused(intptr_t)'),
    currentCipher: find('intptr_t SSL_get_current_cipher(intptr_t)'),
    pendingCipher: find('intptr_t SSL_get_pending_cipher(intptr_t)'),
    session: find('intptr_t SSL_get_session(intptr_t)'),
    sessionCipher: find('intptr_t SSL_SESSION_get0_cipher(intptr_t)'),
    cipherId: find('uint32_t SSL_CIPHER_get_id(intptr_t)'),
    sessionId: find('intptr_t SSL_SESSION_get_id(intptr_t, void *)'),
    decodeSession: find('intptr_t d2i_SSL_SESSION(intptr_t, void *, long)'),
    setNewSession: find('void SSL_CTX_sess_set_new_cb(intptr_t, intptr_t)'),
    setFindSession: find('void SSL_CTX_sess_set_get_cb(intptr_t, intptr_t)'),
    encodeSession: find('int i2d_SSL_SESSION(intptr_t, void *)'),
    groupName: find('str SSL_get0_group_name(intptr_t)'),
    earlyStatus: find('int SSL_get_early_data_status(intptr_t)'),
    setCallbacks: find('int SSL_set_quic_tls_cbs(intptr_t, intptr_t, intptr_t)'),
    setParameters: find('int SSL_set_quic_tls_transport_params(intptr_t, intptr_t, size_t)'),
    enableEarly: find('int SSL_set_quic_tls_early_data_enabled(intptr_t, int)'),
    setMaxEarly: find('int SSL_CTX_set_max_early_data(intptr_t, uint32_t)'),
    setContextOptions: find('uint64_t SSL_CTX_set_options(intptr_t, uint64_t)'),
    setAlpnCallback: find('void SSL_CTX_set_alpn_select_cb(intptr_t, intptr_t, intptr_t)'),
    contextCallbackControl: find('long SSL_CTX_callback_ctrl(intptr_t, int, intptr_t)'),
    control: find('long SSL_ctrl(intptr_t, int, long, intptr_t)'),
    setVerify: find('void SSL_set_verify(intptr_t, int, intptr_t)'),
    setVerifyDepth: find('void SSL_set_verify_depth(intptr_t, int)'),
    verifyResult: find('long SSL_get_verify_result(intptr_t)'),
    peerCertificate: find('intptr_t SSL_get1_peer_certificate(intptr_t)'),
    encodeCertificate: find('int i2d_X509(intptr_t, void *)'),
    freeCertificate: find('void X509_free(intptr_t)'),
    clearErrors: find('void ERR_clear_error()'),
    nextError: find('unsigned long ERR_get_error()'),
    describeError: find('void ERR_error_string_n(unsigned long, void *, size_t)'),
    copy: find('intptr_t memcpy(intptr_t, intptr_t, size_t)'),
    allocate: find('intptr_t CRYPTO_malloc(size_t, str, int)'),
    verifyText: find('str X509_verify_cert_error_string(long)'),
  };
}
