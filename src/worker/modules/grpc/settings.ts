import type { LateValue } from '../../../shared/config/late-value.js';
import type { BackendPass, BackendScheme } from '../../cgi/backend-pass.js';
import type { Request } from '../../http/request/request.js';
import type { UpstreamSettings } from '../../upstream/settings/settings.js';
import type { TlsClientSettings } from '../../upstream/settings/tls-settings.js';

/** What may stand before the address of a gRPC server. */
export const SCHEMES: readonly BackendScheme[] = [
  { text: 'grpc://', tls: false },
  { text: 'grpcs://', tls: true },
];

/** One `grpc_set_header` line. */
export interface GrpcHeaderLine {
  readonly name: string;
  readonly value: LateValue<Request>;
}

/** All `grpc_*` settings of a location. nginx: ngx_http_grpc_loc_conf_t. */
export interface GrpcSettings extends UpstreamSettings, TlsClientSettings {
  pass: BackendPass | undefined;
  headers: readonly GrpcHeaderLine[];
  /** Browsers' calls are understood, too. */
  web: boolean;
  /** Streams that a connection has at a time. */
  maxStreams: number;
}
