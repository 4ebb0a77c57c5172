import type { LogFiles } from '../../../shared/log/log-files.js';
import type { Socket } from '../../../shared/net/socket.js';
import type { Deadline } from '../../time/deadline.js';
import type { ClientSettings } from '../request/client-settings.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';

/**
 * Reads on for a while what nobody wants any more: `lingering_time` in all, `lingering_timeout` for each wait. nginx:
 * ngx_http_set_lingering_close, ngx_http_lingering_close_handler, ngx_http_discarded_request_body_handler.
 */
export class Lingering {
  readonly #deadline: Deadline;
  readonly #until: number;
  readonly #timeout: number;

  /** `deadline` runs out when the client sends nothing for too long. */
  constructor(deadline: Deadline, settings: ClientSettings) {
    this.#deadline = deadline;
    this.#until = performance.now() + settings.lingeringTime;
    this.#timeout = settings.lingeringTimeout;
  }

  /** Half-closes, so that the client can read the answer. */
  halfClose(socket: Socket, logFiles: LogFiles): void {
    logFiles.flushTick();
    socket.end();
  }

  /** Waits for what comes next. Returns false when the time is over. */
  wait(): boolean {
    const now = performance.now();
    const left = Math.min(this.#until - now, this.#timeout);
    if (left <= 0) {
      return false;
    }
    this.#deadline.set(now, left);
    return true;
  }
}

/** Whether the connection is to linger before it is closed; `unread`: the client sent something that nobody has used. */
export function mustLinger(r: Request, unread: boolean): boolean {
  const when = r.location.conf(clientSlot).lingeringClose;
  return when === 'always' || (when === 'on' && (r.lingeringClose || unread));
}
