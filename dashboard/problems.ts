import { machineState } from './fleet-section.js';
import type { Live } from './live.js';
import { count, percent, span } from './numbers.js';
import type { State } from './types.js';

export interface Problem {
  readonly look: 'bad' | 'warn';
  readonly text: string;
  /** Where more is to be seen. */
  readonly href?: string;
}

const DAY = 86_400_000;
/** A certificate that ends sooner is a warning, and one that ends much sooner a problem. */
const SOON = 21 * DAY;
const VERY_SOON = 7 * DAY;

/** What somebody should look at, the worst first. */
export function problemsOf(state: State, live: Live): Problem[] {
  const found: Problem[] = [];
  for (const [name, { peers }] of [...Object.entries(state.upstreams), ...Object.entries(state.stream?.upstreams ?? {})]) {
    const down = peers.filter((peer) => peer.state === 'unavail' || peer.state === 'unhealthy');
    if (down.length > 0) {
      const which = down.length === 1 ? down[0]!.server : `${down.length} of ${peers.length} servers`;
      found.push({ look: 'bad', text: `${name}: ${which} ${down.length === 1 ? 'does not work' : 'do not work'}` });
    }
  }
  for (const machine of state.fleet?.machines ?? []) {
    const [look, text] = machineState(machine, state.now);
    if (look !== 'ok') {
      found.push({ look, text: `machine ${machine.node}: ${text}`, href: '#fleet' });
    }
  }
  for (const { subject, server, notAfter } of state.certificates) {
    const left = notAfter - state.now;
    if (left < SOON) {
      const when = left < 0 ? `ended ${span(-left)} ago` : `ends in ${span(left)}`;
      found.push({ look: left < VERY_SOON ? 'bad' : 'warn', text: `certificate ${subject || server} ${when}` });
    }
  }
  const { figures } = live;
  const errors = figures.total.classes[4]!;
  const all = figures.total.classes.reduce((sum, n) => sum + n, 0);
  if (errors > 0 && errors / all >= 0.01) {
    found.push({ look: 'bad', text: `${percent(errors / all)} of responses are 5xx, ${figures.name}` });
  }
  for (const zone of state.zones) {
    if (zone.size > 0 && zone.used / zone.size > 0.9 && !zone.kind.endsWith('_cache')) {
      found.push({ look: 'warn', text: `zone ${zone.name} is ${percent(zone.used / zone.size)} full` });
    }
  }
  if (state.connections.dropped > 0) {
    found.push({ look: 'warn', text: `${count(state.connections.dropped)} connections dropped for want of worker_connections` });
  }
  if (state.service.refusedAt > 0) {
    found.push({
      look: 'bad',
      text: `the last reload, ${span(state.now - state.service.refusedAt)} ago, failed or was refused: the configuration of before serves, ${state.config ? 'and here is why' : 'the error log says why'}`,
      ...(state.config ? { href: '#configuration' } : {}),
    });
  }
  if (state.service.respawned > 0) {
    found.push({
      look: 'warn',
      text: `${count(state.service.respawned)} process${state.service.respawned === 1 ? '' : 'es'} died and were replaced`,
    });
  }
  return found.sort((a, b) => (a.look === b.look ? 0 : a.look === 'bad' ? -1 : 1));
}
