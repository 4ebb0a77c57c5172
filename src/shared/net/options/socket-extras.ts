import type { SocketExtras } from '../../config/configuration.js';
import { loadNative } from '../../native/native.js';

const SOL_SOCKET = 1;
const IPPROTO_TCP = 6;
const OPTIONS = {
  SO_SNDBUF: [SOL_SOCKET, 7],
  SO_RCVBUF: [SOL_SOCKET, 8],
  TCP_KEEPIDLE: [IPPROTO_TCP, 4],
  TCP_KEEPINTVL: [IPPROTO_TCP, 5],
  TCP_KEEPCNT: [IPPROTO_TCP, 6],
  TCP_DEFER_ACCEPT: [IPPROTO_TCP, 9],
  TCP_FASTOPEN: [IPPROTO_TCP, 23],
} as const;

/** How long the kernel keeps a connection back, in seconds, as in nginx. */
const DEFERRED = 1;

const value = new Int32Array(1);

/**
 * Sets options of a listening socket; connections inherit them. `before` are those that it has from an earlier configuration: of them only
 * `deferred` is taken back. `failed` gets each call that the system refuses, in nginx's words, with the negated error number. Does nothing
 * where the system's calls are not to be had. nginx: ngx_configure_listening_sockets.
 */
export function setExtras(
  fd: number,
  extras: SocketExtras | undefined,
  before: SocketExtras | undefined,
  failed: (call: string, errno: number) => void,
): void {
  const native = extras === undefined && !before?.deferred ? undefined : loadNative();
  if (native === undefined || typeof native === 'string') {
    return;
  }
  const set = (name: keyof typeof OPTIONS, wanted: number | undefined): void => {
    if (wanted === undefined) {
      return;
    }
    value[0] = wanted;
    const [level, option] = OPTIONS[name];
    const code = native.setOption(fd, level, option, value);
    if (code < 0) {
      failed(`setsockopt(${name}, ${wanted})${name === 'TCP_DEFER_ACCEPT' ? ' for' : ''}`, code);
    }
  };
  set('SO_RCVBUF', extras?.rcvbuf);
  set('SO_SNDBUF', extras?.sndbuf);
  set('TCP_KEEPIDLE', extras?.probes?.idle || undefined);
  set('TCP_KEEPINTVL', extras?.probes?.interval || undefined);
  set('TCP_KEEPCNT', extras?.probes?.count || undefined);
  set('TCP_FASTOPEN', extras?.fastopen);
  if (extras?.deferred || before?.deferred) {
    set('TCP_DEFER_ACCEPT', extras?.deferred ? DEFERRED : 0);
  }
}
