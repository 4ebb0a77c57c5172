import type { WorkerEnv } from '../../env.js';
import type { StreamServer } from '../../stream/session/runtime.js';
import type { UpstreamGroup } from '../../upstream/group/group.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { clientContextsOf, TlsClient } from '../../upstream/tls/tls-client.js';
import type { StreamProxySettings } from './settings.js';

/** A server's settings for its backend, compiled. */
export interface ProxiedServer {
  readonly settings: Readonly<StreamProxySettings>;
  /** Undefined where the backend's name has variables. */
  readonly group: UpstreamGroup | undefined;
  readonly tls: TlsClient | undefined;
}

export function compileServer(settings: Readonly<StreamProxySettings>, { stream }: StreamServer, env: WorkerEnv): ProxiedServer {
  const fixed = settings.pass?.fixed;
  return {
    settings,
    group: fixed === undefined ? undefined : groupsOf(stream).find(fixed.host, fixed.port, fixed.noPort),
    tls: settings.ssl ? new TlsClient(settings, env.named, clientContextsOf(stream)) : undefined,
  };
}
