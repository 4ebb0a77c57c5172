import { In } from '../../../shared/config/context.js';
import type { Directive } from '../../../shared/config/define.js';
import { accepted } from '../../../shared/config/slots.js';
import { claimContent, defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import { STATUS_OK } from '../../stream/session/status.js';
import type { ClientTask } from '../../task/client-task.js';

const SERVER = In.STREAM_SERVER;
const ANYWHERE = In.STREAM | In.STREAM_SERVER;
const NAME = 'stream_zone_sync';

/** A server for the machines of a fleet: nobody has to come there. */
function warnAndClose(ctx: SharedContext): void {
  ctx.warn('"zone_sync" has no effect: what zones with "sync" have is shared by the store of "shared_store"');
  claimContent(ctx, NAME);
}

type Row = Directive<object, ClientTask>;
const setting = (args: Row['args']): Row => ({ in: ANYWHERE, args, set: accepted() });

const scope = defineSharedScope<object>({
  fields: {},
  directives: {
    zone_sync: { in: SERVER, args: 0, set: accepted(warnAndClose) },
    zone_sync_server: { in: SERVER, args: [1, 2], set: accepted() },
    zone_sync_buffers: setting(2),
    zone_sync_connect_retry_interval: setting(1),
    zone_sync_connect_timeout: setting(1),
    zone_sync_interval: setting(1),
    zone_sync_recv_buffer_size: setting(1),
    zone_sync_timeout: setting(1),
    zone_sync_ssl: setting('flag'),
    zone_sync_ssl_certificate: setting(1),
    zone_sync_ssl_certificate_key: setting(1),
    zone_sync_ssl_ciphers: setting(1),
    zone_sync_ssl_conf_command: setting(2),
    zone_sync_ssl_crl: setting(1),
    zone_sync_ssl_name: setting(1),
    zone_sync_ssl_password_file: setting(1),
    zone_sync_ssl_protocols: setting({ min: 1 }),
    zone_sync_ssl_server_name: setting('flag'),
    zone_sync_ssl_trusted_certificate: setting(1),
    zone_sync_ssl_verify: setting('flag'),
    zone_sync_ssl_verify_depth: setting(1),
  },
});

/** NGINX Plus's way to share zones is understood, and has another one in its place. NGINX Plus: ngx_stream_zone_sync_module. */
export const streamZoneSyncModule = defineModule({
  name: NAME,
  location: scope,
  stream: { handler: () => () => STATUS_OK },
});
