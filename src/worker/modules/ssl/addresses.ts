import type { Block } from '../../../shared/config/block.js';
import type { LinkContext } from '../../../shared/config/define.js';
import { ConfigError } from '../../../shared/config/errors.js';
import { handshakeScope } from '../../js/handshake-scope.js';
import { collectAddresses, type ServerInfo, type ServerNames, serversOf } from '../../listening/listeners.js';
import type { ClientTask } from '../../task/client-task.js';
import { objectReader } from '../../tls/identity.js';
import { loadChain } from '../../tls/pem.js';
import { namesWithVariables } from '../../tls/server-tls.js';
import { TLS, type TlsSettings } from '../../tls/settings.js';
import { uncoveredNames } from './certificate-warnings.js';

/** What a server with scripts for its handshakes is told of QUIC. */
const NO_WAIT =
  'handshakes over QUIC do not wait for "js_client_hello" and "js_ssl_certificate": what is not known at once is refused, and the client comes over TCP';

const QUIET = { fail: () => undefined as never, warn: () => {} };

/** Checks that every server that listens for TLS has certificates, for all of its names. nginx: ngx_http_ssl_init. */
export function checkAddresses(
  main: Block,
  namesOf: (server: Block) => ServerNames,
  tlsOf: (server: Block) => TlsSettings,
  ctx: LinkContext<ClientTask>,
): void {
  const warned = new Set<ServerInfo>();
  for (const address of collectAddresses(serversOf(main, namesOf), QUIET)) {
    if (!address.ssl && !address.quic) {
      continue;
    }
    const fallback = tlsOf(address.defaultServer.block);
    const all = fallback.certificates === undefined && fallback.rejectHandshake;
    for (const server of all ? address.servers : [address.defaultServer]) {
      const { certificates, rejectHandshake, protocols } = tlsOf(server.block);
      const { file, line } = { ...server.block.node!.pos, line: server.block.node!.endLine };
      if (certificates !== undefined && address.quic && (protocols & TLS.TLS_1_3) === 0) {
        throw new ConfigError(`"ssl_protocols" must enable TLSv1.3 for the "listen ... quic" directive in ${file}:${line}`);
      }
      if (certificates !== undefined || rejectHandshake) {
        continue;
      }
      throw new ConfigError(
        `no "ssl_certificate" is defined for the "listen ... ${address.quic ? 'quic' : 'ssl'}" directive in ${file}:${line}`,
        undefined,
        {
          hint: 'name its `ssl_certificate` and `ssl_certificate_key`',
        },
      );
    }
    for (const server of address.quic ? address.servers : []) {
      const { clientHello, certificate } = ctx.settings(handshakeScope, server.block);
      if (clientHello !== undefined || certificate !== undefined) {
        ctx.warn(NO_WAIT, server.block.node!.pos);
      }
    }
    for (const server of address.servers) {
      if (warned.has(server)) {
        continue;
      }
      warned.add(server);
      warnAboutNames(server, tlsOf(server.block), ctx);
    }
  }
}

function warnAboutNames(server: ServerInfo, settings: TlsSettings, ctx: LinkContext<ClientTask>): void {
  const { certificates } = settings;
  if (certificates === undefined || namesWithVariables(settings).length > 0) {
    return;
  }
  const names = server.names.filter(({ kind, text }) => kind === 'exact' && text.includes('.'));
  if (names.length === 0) {
    return;
  }
  let leaves: ReturnType<typeof loadChain>['certificates'][number][];
  try {
    leaves = certificates.map((path) => loadChain(path, objectReader(ctx.named)).certificates[0]!);
  } catch {
    // That the file cannot be read is reported for the server itself.
    return;
  }
  for (const { text, pos } of uncoveredNames(leaves, names)) {
    ctx.warn(`the certificate does not cover the server name "${text}"`, pos);
  }
}
