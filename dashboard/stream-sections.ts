import { bar, type Cell, pill, section, setText, Table } from './dom.js';
import type { Live } from './live.js';
import { bytes, count, percent, quantile, rate, span, time } from './numbers.js';
import { type Ask, alarming, grey, type Part, PEER_LOOKS, peerButton } from './sections.js';
import type { State, StreamPeer, StreamZone } from './types.js';

const columns = (titles: readonly string[]) => titles.map((title) => ({ title, ...(title === 'State' ? { look: 'text' as const } : {}) }));

/** Servers of `stream`. */
export function streamServersPart(): Part {
  const { root, note, body } = section('stream-servers', 'TCP and UDP servers');
  const titles = ['Name', 'sess/s', 'active', 'sessions', '2xx 4xx 5xx', '4xx', '5xx', 'discarded', 'p50', 'p95', 'received', 'sent'];
  const table = new Table('Servers of stream', columns(titles), 'No server counts its sessions: status_zones is off.');
  body.append(table.root);
  return {
    root,
    update(state, live) {
      const all = Object.entries(state.stream?.servers ?? {});
      root.hidden = state.stream === null;
      setText(note, `${all.length}`);
      table.update(all.map(([name, zone]) => [name, serverCells(name, zone, live)]));
    },
  };
}

function sessionBar({ sessions }: StreamZone): Cell {
  const share = (name: '2xx' | '4xx' | '5xx'): number => (sessions.total === 0 ? 0 : sessions[name] / sessions.total);
  const label = (['2xx', '4xx', '5xx'] as const).map((name) => `${name} ${percent(share(name))}`).join(', ');
  return bar(
    [
      [share('2xx'), 'b2'],
      [share('4xx'), 'b4'],
      [share('5xx'), 'b5'],
    ],
    label,
  );
}

function serverCells(name: string, zone: StreamZone, live: Live): Cell[] {
  const counts = live.growth((state) => state.stream?.servers[name]?.buckets);
  return [
    name,
    rate(live.rate((state) => state.stream?.servers[name]?.connections)),
    grey(zone.processing),
    count(zone.sessions.total),
    sessionBar(zone),
    alarming(zone.sessions['4xx'], 'warn'),
    alarming(zone.sessions['5xx'], 'bad'),
    grey(zone.discarded),
    time(quantile(counts, 0.5)),
    time(quantile(counts, 0.95)),
    bytes(zone.received),
    bytes(zone.sent),
  ];
}

/** Groups of backends of `stream`. */
export function streamUpstreamsPart(ask: Ask): Part {
  const { root, note, body } = section('stream-upstreams', 'TCP and UDP upstreams');
  const titles = [
    'Server',
    'group',
    'State',
    'conn/s',
    'active',
    'connections',
    'failed',
    'connect',
    'first byte',
    'checks',
    'received',
    'sent',
  ];
  const table = new Table('Servers of the upstreams of stream', columns([...titles, 'weight', '(action)']), 'No servers.');
  body.append(table.root);
  return {
    root,
    update(state, live) {
      const groups = Object.entries(state.stream?.upstreams ?? {});
      root.hidden = groups.length === 0;
      const peers = groups.flatMap(([, group]) => group.peers);
      setText(note, `${peers.filter(({ state: is }) => is === 'up').length} of ${peers.length} servers up`);
      table.update(
        groups.flatMap(([name, { peers: of, zone }]) =>
          of.map((peer): readonly [string, Cell[]] => [
            `${name} ${peer.id}`,
            [...peerCells(state, live, name, peer), state.write && zone !== undefined ? sessionPeerButton(name, peer, ask) : ''],
          ]),
        ),
      );
    },
  };
}

function peerCells(state: State, live: Live, group: string, peer: StreamPeer): Cell[] {
  const [look, word] = PEER_LOOKS[peer.state];
  const since = peer.downstart === undefined ? '' : ` ${span(state.now - Date.parse(peer.downstart))}`;
  const { checks, fails } = peer.health_checks;
  return [
    `${peer.server}${peer.backup ? ' (backup)' : ''}`,
    group,
    pill(`${word}${since}`, look),
    rate(live.rate((seen) => seen.stream?.upstreams[group]?.peers.find(({ id }) => id === peer.id)?.connections)),
    grey(peer.active),
    count(peer.connections),
    alarming(peer.fails, 'bad'),
    time(peer.connect_time ?? 0),
    time(peer.first_byte_time ?? 0),
    checks === 0 ? { text: '–', look: 'zero' } : { text: `${count(fails)} of ${count(checks)} failed`, look: fails === 0 ? '' : 'warn' },
    bytes(peer.received),
    bytes(peer.sent),
    `${peer.weight}`,
  ];
}

function sessionPeerButton(group: string, { id, server, state }: StreamPeer, ask: Ask): Cell {
  const change = { protocol: 'stream', upstream: group, id };
  return state === 'down'
    ? peerButton(ask, 'Enable', group, server, `The server takes connections of ${group} again.`, { action: 'enable', ...change })
    : peerButton(ask, 'Disable', group, server, `The server gets no new connections of ${group}. Those it has go on.`, {
        action: 'disable',
        ...change,
      });
}

/** Keyval zones, and the first pairs of each. */
export function keyvalsPart(): Part {
  const { root, note, body } = section('keyvals', 'Keys and values', 'half');
  const zones = new Table('Keyval zones', columns(['Zone', 'of', 'type', 'pairs', 'timeout', 'state file']), 'No zones.');
  const pairs = new Table(
    'Pairs of the keyval zones',
    [{ title: 'Key', look: 'text wrap' }, { title: 'zone' }, { title: 'value', look: 'text wrap' }, { title: 'ends in' }],
    'No pairs.',
  );
  body.append(zones.root, pairs.root);
  return {
    root,
    update({ keyvals, now }) {
      root.hidden = keyvals.length === 0;
      const total = keyvals.reduce((sum, { count: n }) => sum + n, 0);
      const shown = keyvals.reduce((sum, { pairs: some }) => sum + some.length, 0);
      setText(note, shown < total ? `${count(total)} pairs, ${count(shown)} of them shown` : `${count(total)} pairs`);
      zones.update(
        keyvals.map(({ name, of, type, count: n, timeout, state }) => [
          `${of} ${name}`,
          [name, of, type, count(n), timeout === 0 ? 'none' : span(timeout), state ? 'yes' : 'no'],
        ]),
      );
      pairs.update(
        keyvals.flatMap(({ name, of, pairs: some }) =>
          some.map(({ key, value, ends }): readonly [string, Cell[]] => [
            `${of} ${name} ${key}`,
            [key, name, value, ends === null ? 'never' : span(Math.max(0, ends - now))],
          ]),
        ),
      );
    },
  };
}
