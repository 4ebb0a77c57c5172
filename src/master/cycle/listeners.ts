import { unlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration, ListenSpec } from '../../shared/config/configuration.js';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ALERT, EMERG, NOTICE } from '../../shared/log/level.js';
import { socketKey } from '../../shared/net/listen-key.js';
import { ListenSocket, SocketError } from '../../shared/net/listen-socket.js';
import { setExtras } from '../../shared/net/options/socket-extras.js';
import { allowOthers, hasSocketEach } from '../../shared/net/reuseport.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';

/** The bound sockets of a configuration by their {@link socketKey}, in the order of the configuration. */
export type Listeners = ReadonlyMap<string, ListenSocket>;

const EADDRINUSE = 98;
const TRIES = 5;
/** Milliseconds. */
const PAUSE = 500;

/** The sockets that serve a configuration: with `reuseport`, one for each worker at an address. nginx: ngx_clone_listening. */
export function socketsOf({ listens, process: { masterProcess, workerProcesses } }: Configuration): ListenSpec[] {
  return listens.flatMap((spec) =>
    masterProcess && hasSocketEach(spec) ? Array.from({ length: workerProcesses }, (_, worker) => ({ ...spec, worker })) : [spec],
  );
}

/**
 * Binds what a configuration listens on, taking from `held` what is bound already. A busy address is tried five times; when it stays busy,
 * or on any other error, everything that was bound here is closed again and the result is undefined; the log has the reason. With
 * `testing`, busy addresses do not matter and nothing stays bound. nginx: ngx_open_listening_sockets.
 */
export async function openListeners(
  specs: readonly ListenSpec[],
  held: Listeners,
  log: Logger,
  testing: boolean,
): Promise<Listeners | undefined> {
  const fresh = new Map<string, ListenSocket>();
  for (const spec of specs) {
    const kept = spec.worker === undefined ? undefined : held.get(socketKey(spec));
    if (kept !== undefined) {
      // It may have been the only one until now.
      allowOthers(kept.fd);
    }
  }
  for (let tries = TRIES; ; tries--) {
    const result = bindMissing(specs, held, fresh, log, testing);
    if (result === 'bound' && !testing) {
      return new Map(specs.map((spec) => [socketKey(spec), configured(spec, held, fresh, log)]));
    }
    if (result !== 'busy') {
      closeListeners(fresh.values());
      return result === 'bound' ? new Map() : undefined;
    }
    log.log(NOTICE, 'try again to bind() after 500ms');
    await sleep(PAUSE);
    if (tries === 1) {
      log.log(EMERG, 'still could not bind()');
      closeListeners(fresh.values());
      return undefined;
    }
  }
}

/** The socket of a new configuration, with its options. One that is bound already may have had others. */
function configured(spec: ListenSpec, held: Listeners, fresh: Listeners, log: Logger): ListenSocket {
  const key = socketKey(spec);
  const kept = held.get(key);
  const before = kept?.spec.extras;
  const socket = kept?.as(spec) ?? (fresh.get(key) as ListenSocket);
  setExtras(socket.fd, spec.extras, before, (call, errno) => {
    log.log(ALERT, `${call} ${spec.text} failed, ignored (${errnoText(errno)})`);
  });
  return socket;
}

function bindMissing(
  specs: readonly ListenSpec[],
  held: Listeners,
  fresh: Map<string, ListenSocket>,
  log: Logger,
  testing: boolean,
): 'bound' | 'busy' | 'failed' {
  let busy = false;
  const named = new Set<string>();
  for (const spec of specs) {
    const key = socketKey(spec);
    // `http` and `stream` cannot have one address.
    if (named.has(key) && !testing) {
      log.log(EMERG, `bind() to ${spec.text} failed (${errnoText(EADDRINUSE)})`);
      busy = true;
      continue;
    }
    named.add(key);
    if (held.has(key) || fresh.has(key)) {
      continue;
    }
    try {
      fresh.set(key, ListenSocket.bind(spec));
    } catch (error) {
      if (!(error instanceof SocketError)) {
        throw error;
      }
      if (error.errno === EADDRINUSE && testing) {
        continue;
      }
      log.log(EMERG, `bind() to ${spec.text} failed (${errnoText(error)})`);
      if (error.errno !== EADDRINUSE) {
        return 'failed';
      }
      busy = true;
    }
  }
  return busy ? 'busy' : 'bound';
}

/** Closes sockets in this process. */
export function closeListeners(sockets: Iterable<ListenSocket>): void {
  for (const socket of sockets) {
    socket.close();
  }
}

/** Closes sockets for good: the files of Unix-domain ones go too. nginx: ngx_close_listening_sockets. */
export function removeListeners(sockets: Iterable<ListenSocket>, log: Logger): void {
  for (const socket of sockets) {
    socket.close();
    const { family, address } = socket.spec;
    if (family === 'unix') {
      try {
        unlinkSync(fsPath(address));
      } catch (error) {
        // libuv removes the file of a socket that was bound here.
        if (errnoCode(error) !== 'ENOENT') {
          log.log(EMERG, `unlink() ${address} failed (${errnoText(error)})`);
        }
      }
    }
  }
}
