import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { readNamed } from '../../../shared/config/read-named.js';
import { accepted, flag, int } from '../../../shared/config/slots.js';
import { type AddressQuicSettings, quicSlot } from '../../http/listening/quic-settings.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { whyNoQuic } from '../../net/openssl/quic-library.js';

const HTTP_SERVER = In.HTTP | In.SERVER;

/** Says that a setting comes to nothing where there is no QUIC. */
function warn(node: DirectiveNode, ctx: Context): void {
  const why = whyNoQuic();
  if (why !== '') {
    ctx.warn(`the "${node.name}" directive has no effect: there is no QUIC here, because ${why}`);
  }
}

const setting =
  <C>(set: (conf: Partial<C>, node: DirectiveNode, ctx: Context) => void) =>
  (conf: Partial<C>, node: DirectiveNode, ctx: Context): void => {
    set(conf, node, ctx);
    if (node.args[0]!.toLowerCase() !== 'off') {
      warn(node, ctx);
    }
  };

// nginx: ngx_http_quic_host_key.
function readHostKey(conf: Partial<AddressQuicSettings>, node: DirectiveNode, ctx: Context): void {
  if (conf.quicHostKey !== undefined) {
    ctx.reject('is duplicate');
  }
  const path = ctx.path(node.args[0]!, 'conf');
  conf.quicHostKey = readNamed(path, ctx);
  if (conf.quicHostKey === '') {
    ctx.fail(`"${path}" zero key size`, { arg: 0 });
  }
}

const quicScope = defineScope<AddressQuicSettings>({
  fields: {
    quicRetry: inherit(false),
    quicGso: inherit<boolean | undefined>(undefined),
    quicHostKey: inherit<string | undefined>(undefined),
    quicIdLimit: inherit(2),
  },
  directives: {
    quic_retry: {
      in: HTTP_SERVER,
      args: 'flag',
      set: setting<AddressQuicSettings>((...all) => flag<'quicRetry', Request>('quicRetry')(...all)),
    },
    quic_gso: { in: HTTP_SERVER, args: 'flag', set: setting<AddressQuicSettings>((...all) => flag<'quicGso', Request>('quicGso')(...all)) },
    quic_host_key: { in: HTTP_SERVER, args: 1, set: setting<AddressQuicSettings>(readHostKey) },
    quic_active_connection_id_limit: {
      in: HTTP_SERVER,
      args: 1,
      set: setting<AddressQuicSettings>((conf, node, ctx) => {
        int<'quicIdLimit', Request>('quicIdLimit')(conf, node, ctx);
        if (conf.quicIdLimit! < 2) {
          ctx.fail('"quic_active_connection_id_limit" must be 2 or more');
        }
      }),
    },
  },
});

/** Which worker gets what belongs to a connection is decided here without privileges, and always. */
const processScope = defineScope<object>({
  fields: {},
  directives: { quic_bpf: { in: In.MAIN, args: 'flag', set: accepted() } },
});

/** QUIC: the settings of its transport. nginx: a part of ngx_http_v3_module, and ngx_event_quic_bpf. */
export const quicModule = defineModule({
  name: 'quic',
  process: processScope,
  server: quicScope,
  serverSlot: quicSlot,
});
