import type { Machine } from '../../worker/fleet/machines-zone.js';
import { shownText } from './shown-text.js';
import { table } from './status-tables.js';

/** A machine that was not heard of for so long (milliseconds) is lost. */
const LOST_MS = 10_000;

/** The machines of a fleet as a table of plain text. */
export function fleetTable(machines: readonly Machine[]): string {
  if (machines.length === 0) {
    return 'no machine of the fleet was heard of yet\n';
  }
  const now = Date.now();
  const rows = machines.map((machine) => {
    const ago = Math.max(0, now - machine.seenAt);
    return [
      shownText(machine.node),
      ago > LOST_MS ? `lost for ${Math.round(ago / 1000)}s` : storeOf(machine),
      shownText(machine.version),
      String(machine.workers),
      String(machine.active + machine.waiting),
      machine.rate.toFixed(1),
      String(machine.requests),
      String(machine.errors),
      String(machine.local),
    ];
  });
  const head = ['machine', 'store', 'version', 'workers', 'connections', 'req/s', 'requests', '5xx', 'decided locally'];
  return `${table(head, rows).slice(1).join('\n')}\n`;
}

const storeOf = ({ storeUp, workers }: Machine): string => (storeUp >= workers ? 'up' : storeUp > 0 ? 'partly' : 'lost');
