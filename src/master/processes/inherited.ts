import { fstatSync } from 'node:fs';
import type { Logger } from '../../shared/log/error-log.js';
import { EMERG, NOTICE } from '../../shared/log/level.js';
import { socketKey } from '../../shared/net/listen-key.js';
import { adoptDescriptor, boundKey, type SocketHandle } from '../../shared/net/listen-socket.js';
import { INHERITED } from './inherited-mark.js';

/**
 * The sockets that an upgraded master left to this process, by their key; undefined when there was none. nginx:
 * ngx_add_inherited_sockets.
 */
export function inheritedSockets(log: Logger): Map<string, SocketHandle> | undefined {
  const text = process.env[INHERITED];
  if (text === undefined) {
    return undefined;
  }
  delete process.env[INHERITED];
  log.log(NOTICE, `using inherited sockets from "${text}"`);
  const sockets = new Map<string, SocketHandle>();
  const numbers = text.split(/[:;]/);
  const rest = numbers.pop();
  for (const number of numbers) {
    if (!/^\d+$/.test(number)) {
      log.log(EMERG, `invalid socket number "${number}" in ${INHERITED} environment variable, ignoring the rest of the variable`);
      return sockets;
    }
    keepSocket(sockets, adoptDescriptor(Number(number)));
  }
  if (rest !== '') {
    log.log(EMERG, `invalid socket number "${rest}" in ${INHERITED} environment variable, ignoring`);
  }
  return sockets;
}

/**
 * Puts a socket under the key of its address. Several sockets of one address are those of as many workers, which get them in the order in
 * which they come. One that is there already is closed.
 */
export function keepSocket(sockets: Map<string, SocketHandle>, handle: SocketHandle): void {
  const key = boundKey(handle);
  const { ino } = fstatSync(handle.fd);
  for (let worker = 0; key !== undefined; worker++) {
    const name = socketKey({ key, worker });
    const known = sockets.get(name);
    if (known === undefined) {
      sockets.set(name, handle);
      return;
    }
    if (fstatSync(known.fd).ino === ino) {
      break;
    }
  }
  handle.close();
}
