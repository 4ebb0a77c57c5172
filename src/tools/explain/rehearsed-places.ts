import { nameSlot } from '../../worker/http/request/server-names.js';
import { accessLogScope } from '../../worker/modules/access-log/index.js';
import { COMBINED, type LogFormat } from '../../worker/modules/access-log/settings.js';
import { formatReader, jsonReader, type LineReader } from '../logs/log-line.js';
import type { Rehearsal } from '../rehearsal/rehearsal.js';

/** Where a path without a host goes: to the first listener that is there, under the name of its default server. */
export function usualPort({ http }: Rehearsal): { port: number; tls: boolean; host: string | undefined } {
  const address = http.listeners.find(({ unix }) => !unix)?.addresses[0];
  if (address === undefined) {
    return { port: 80, tls: false, host: undefined };
  }
  const { serverName } = address.defaultServer.conf(nameSlot);
  const host = /^[a-z0-9.-]+$/i.test(serverName) ? serverName : 'localhost';
  const tls = address.tls !== undefined;
  const usual = address.port === (tls ? 443 : 80);
  return { port: address.port, tls, host: usual ? host : `${host}:${address.port}` };
}

/** Readers for the formats of the configuration's logs. */
export function readersOf({ loaded, http }: Rehearsal): LineReader[] {
  const formats = new Set<LogFormat>();
  for (const block of http.locationOf.keys()) {
    for (const { format } of loaded.settings(accessLogScope, block).access?.logs ?? []) {
      formats.add(format);
    }
  }
  return [...[...formats, COMBINED].map(({ parts }) => formatReader(parts)), jsonReader];
}
