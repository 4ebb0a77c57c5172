import type { NamedFiles } from '../../shared/config/named-files.js';
import { FetchScope, type FetchSettings, type Lookup } from '../js/fetch-settings.js';
import { TLS } from '../tls/settings.js';
import { systemResolver } from './system-resolver.js';

/** How servers are asked that the configuration trusts with who may come in: certificates are always verified. */
export function trustedFetch(trustedCertificate: string, files: NamedFiles, lookup: Lookup): FetchScope {
  const settings: FetchSettings = {
    fetchTimeout: 10_000,
    fetchBufferSize: 16 * 1024,
    fetchMaxResponse: 1024 * 1024,
    fetchKeepalive: 0,
    fetchKeepaliveRequests: 0,
    fetchKeepaliveTime: 0,
    fetchKeepaliveTimeout: 0,
    fetchProxy: undefined,
    fetchProtocols: TLS.TLS_1_2 | TLS.TLS_1_3,
    fetchCiphers: 'DEFAULT',
    fetchVerify: true,
    fetchVerifyDepth: 100,
    fetchTrustedCertificate: trustedCertificate,
  };
  return new FetchScope(settings, files, { ...lookup, resolver: lookup.resolver ?? systemResolver });
}
