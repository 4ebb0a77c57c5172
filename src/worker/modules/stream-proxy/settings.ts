import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Declaration } from '../../upstream/group/group-config.js';
import type { TlsClientSettings } from '../../upstream/settings/tls-settings.js';

/** What `proxy_pass` says: a group or an address, or a text with variables that names one. */
export interface StreamPass {
  readonly fixed: Declaration | undefined;
  readonly dynamic: ComplexValue<ClientTask> | undefined;
}

/** The settings of a server for its backend. Times are in milliseconds. nginx: ngx_stream_proxy_srv_conf_t. */
export interface StreamProxySettings extends TlsClientSettings {
  pass: StreamPass | undefined;
  connectTimeout: number;
  timeout: number;
  nextUpstream: boolean;
  /** 0: no limit. */
  nextUpstreamTimeout: number;
  nextUpstreamTries: number;
  /** How much of one side is kept for the other, in bytes. */
  bufferSize: number;
  /** Bytes in a second; nothing or 0 for no limit. */
  uploadRate: ComplexValue<ClientTask> | undefined;
  downloadRate: ComplexValue<ClientTask> | undefined;
  /** Datagrams that a session is for; 0 for any number. */
  requests: number;
  /** Datagrams that answer each; -1 for any number. */
  responses: number;
  /** Version of the PROXY protocol header that goes first; 0 for none. */
  proxyProtocol: 0 | 1 | 2;
  bind: { readonly value: ComplexValue<ClientTask>; readonly transparent: boolean } | null;
  socketKeepalive: boolean;
  socketRcvbuf: number;
  socketSndbuf: number;
  halfClose: boolean;
  ssl: boolean;
  sslAlpn: readonly ComplexValue<ClientTask>[] | undefined;
}
