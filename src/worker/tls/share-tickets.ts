import type { WorkerEnv } from '../env.js';
import { FleetTickets } from './fleet-tickets.js';
import { hasContext } from './server-tls.js';
import type { TlsSettings } from './settings.js';

/** Has one worker of this machine keep the keys of a server's tickets the same as those of all machines. */
export function shareTickets(settings: Readonly<TlsSettings>, { store, slot, zones, log, rehearsing, onDrain }: WorkerEnv): void {
  const { ticketSync, sessionTickets, ticketKeyFiles, sessionTimeout } = settings;
  const wanted = ticketSync !== null && sessionTickets && ticketKeyFiles.length === 0 && hasContext(settings);
  if (!wanted || store === undefined || slot !== 0 || rehearsing) {
    return;
  }
  let shared = store.parts.get(FleetTickets) as FleetTickets | undefined;
  if (shared === undefined) {
    const made = new FleetTickets(store, zones.open(ticketSync), log);
    store.parts.set(FleetTickets, made);
    onDrain(() => made.close());
    shared = made;
  }
  shared.add(sessionTimeout);
}
