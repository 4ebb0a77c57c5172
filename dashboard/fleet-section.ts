import { el, pill, section, setText, Table } from './dom.js';
import { count, rate, span, time } from './numbers.js';
import { alarming, grey, type Part } from './sections.js';
import type { Machine } from './types.js';

/** A machine that was not heard of for so long (milliseconds) is lost. */
const LOST = 10_000;

/** How a machine is, as somebody at this one sees it. */
export function machineState(machine: Machine, now: number): readonly [look: 'ok' | 'warn' | 'bad', text: string] {
  const ago = now - Date.parse(machine.seen);
  if (!(ago <= LOST)) {
    return ['bad', `lost for ${span(ago)}`];
  }
  return machine.workers_up >= machine.workers ? ['ok', 'up'] : machine.workers_up > 0 ? ['warn', 'partly'] : ['bad', 'without the store'];
}

/** The machines of a fleet, and this one's way to their store. */
export function fleetPart(): Part {
  const { root, note, body } = section('fleet', 'Machines');
  const titles = ['Machine', 'store', 'version', 'workers', 'connections', 'req/s', 'requests', '5xx', 'decided locally', 'loaded'];
  const table = new Table(
    'Machines of the fleet',
    titles.map((title) => ({ title, ...(title === 'store' ? { look: 'text' as const } : {}) })),
    'No machine has told of itself yet.',
  );
  const way = el('p', { class: 'soft' });
  body.append(table.root, way);
  return {
    root,
    update({ fleet, now }) {
      root.hidden = fleet === null;
      if (fleet === null) {
        return;
      }
      const { machines } = fleet;
      const well = machines.filter((machine) => machineState(machine, now)[0] === 'ok').length;
      setText(note, `${well} of ${machines.length} have the store ${fleet.name}`);
      table.update(
        machines.map((machine) => {
          const [look, text] = machineState(machine, now);
          const { active, waiting } = machine.connections;
          return [
            machine.node,
            [
              machine.node === fleet.node ? `${machine.node} (this one)` : machine.node,
              pill(text, look),
              machine.version,
              count(machine.workers),
              grey(active + waiting),
              rate(machine.requests.rate),
              count(machine.requests.total),
              alarming(machine.requests['5xx'], 'bad'),
              alarming(machine.decided_locally, 'warn'),
              `${span(now - Date.parse(machine.configuration_loaded))} ago`,
            ],
          ];
        }),
      );
      setText(
        way,
        `This machine: ${count(fleet.calls)} questions, median ${time(fleet.round_trip_ms.median)}, p99 ${time(fleet.round_trip_ms.p99)}, ` +
          `${count(fleet.refused_without_question)} refused without one; ${count(fleet.errors)} errors, ${count(fleet.timeouts)} too late, ` +
          `${count(fleet.losses)} losses`,
      );
    },
  };
}
