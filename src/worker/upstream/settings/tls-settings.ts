import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ClientTask } from '../../task/client-task.js';
import type { CertificateCache } from '../../tls/settings.js';

/** A certificate or a key, by the name that the configuration gives it. */
export interface NamedFile {
  /** As written. */
  readonly text: string;
  /** The complete path or `data:`; undefined when it has variables. */
  readonly path: string | undefined;
  /** The complete path for a request. */
  readonly eval: (r: ClientTask) => string;
}

/** How a location speaks TLS with its backends. Paths are complete. */
export interface TlsClientSettings {
  sslSessionReuse: boolean;
  /** Bits of TLS. */
  sslProtocols: number;
  sslCiphers: string;
  /** The name for SNI and verification, instead of the backend's. */
  sslName: ComplexValue<ClientTask> | undefined;
  sslServerName: boolean;
  sslVerify: boolean;
  sslVerifyDepth: number;
  sslTrustedCertificate: string;
  sslCrl: string;
  sslCertificate: NamedFile | undefined;
  sslCertificateKey: NamedFile | undefined;
  /** Null when certificates with variables are read again for each connection. */
  sslCertificateCache: CertificateCache | null;
  sslPasswords: readonly string[];
  sslConfCommands: readonly (readonly [string, string])[];
}
