import { bar, type Cell, el, pill, section, setText, Table } from './dom.js';
import { type Figures, NOTHING } from './figures.js';
import type { Live } from './live.js';
import { bytes, count, percent, quantile, rate, span, time } from './numbers.js';
import { lineLink, shown } from './routes.js';
import type { Cache, Group, Limit, Peer, State, Zone } from './types.js';

/** A part of the page. It is shown where it has something to show. */
export interface Part {
  readonly root: HTMLElement;
  update(state: State, live: Live): void;
}

/** What somebody asks for by a button; the page asks back before it does so. */
export type Ask = (question: { title: string; text: string; yes: string; change: object }) => void;

export const grey = (n: number): Cell => ({ text: count(n), look: n === 0 ? 'zero' : '' });
export const alarming = (n: number, look: 'bad' | 'warn'): Cell => ({ text: count(n), look: n === 0 ? 'zero' : look });

function classBar(classes: readonly number[]): Cell {
  const total = classes.reduce((sum, n) => sum + n, 0);
  const share = (i: number): number => (total === 0 ? 0 : classes[i]! / total);
  const label = [1, 2, 3, 4].map((i) => `${i + 1}xx ${percent(share(i))}`).join(', ');
  return bar(
    [1, 2, 3, 4].map((i) => [share(i), `b${i + 1}`] as const),
    label,
  );
}

/** Virtual servers, or locations. */
export function zonesPart(kind: 'servers' | 'locations'): Part {
  const { root, note, body } = section(kind, kind === 'servers' ? 'Servers' : 'Locations');
  const table = new Table(
    kind === 'servers' ? 'Virtual servers' : 'Locations with a status zone',
    [
      'Name',
      'req/s',
      ...(kind === 'servers' ? ['active'] : []),
      'requests',
      '2xx 3xx 4xx 5xx',
      '4xx',
      '5xx',
      'p50',
      'p95',
      'received',
      'sent',
    ].map((title) => ({ title })),
    'No server counts its requests: status_zones is off.',
  );
  body.append(table.root);
  return {
    root,
    update(state, live) {
      const all = Object.entries(state[kind]);
      root.hidden = kind === 'locations' && all.length === 0;
      // The server keeps no past of locations.
      const figures = kind === 'servers' || live.past === undefined ? live.figures : { ...live.figures, ...live.seen };
      setText(note, `${all.length}, ${figures.name}`);
      table.update(all.map(([name, zone]) => [name, zoneCells(name, zone, kind, figures)]));
    },
  };
}

function zoneCells(name: string, zone: Zone, kind: 'servers' | 'locations', figures: Figures): Cell[] {
  const { requests, classes, buckets, received, sent } = figures[kind].get(name) ?? NOTHING;
  return [
    shown.places.cell(
      name,
      shown.places.find(kind === 'servers' ? 'server' : 'location', name),
      kind === 'servers' ? `server: ${name === '_' ? '' : name},` : undefined,
    ),
    rate(requests / figures.seconds),
    ...(kind === 'servers' ? [grey(zone.processing ?? 0)] : []),
    count(requests),
    classBar(classes),
    alarming(classes[3]!, 'warn'),
    alarming(classes[4]!, 'bad'),
    time(quantile(buckets, 0.5)),
    time(quantile(buckets, 0.95)),
    bytes(received),
    bytes(sent),
  ];
}

export const PEER_LOOKS: { readonly [S in Peer['state']]: readonly ['ok' | 'warn' | 'bad' | 'idle', string] } = {
  up: ['ok', 'up'],
  draining: ['warn', 'draining'],
  checking: ['warn', 'checking'],
  unavail: ['bad', 'unavailable'],
  unhealthy: ['bad', 'unhealthy'],
  down: ['idle', 'down'],
};

/** So many of those who pass requests on to a group are named. */
const MOST_USERS = 8;

/** Groups of backends, each with its peers. */
export function upstreamsPart(ask: Ask): Part {
  const { root, note, body } = section('upstreams', 'Upstreams');
  const groups = new Map<string, GroupTable>();
  return {
    root,
    update(state, live) {
      const all = Object.entries(state.upstreams);
      root.hidden = all.length === 0;
      const { figures } = live;
      const peers = all.flatMap(([, group]) => group.peers);
      setText(note, `${peers.filter(({ state: is }) => is === 'up').length} of ${peers.length} servers up, ${figures.name}`);
      for (const [name, table] of groups) {
        if (state.upstreams[name] === undefined) {
          table.root.remove();
          groups.delete(name);
        }
      }
      for (const [name, group] of all) {
        let table = groups.get(name);
        if (table === undefined) {
          groups.set(name, (table = groupTable(name)));
          body.append(table.root);
        }
        const idle = group.keepalive > 0 ? `, ${count(group.keepalive)} idle connections` : '';
        setText(table.note, `${group.zone === undefined ? 'no zone' : `zone ${group.zone}`}${idle}`);
        table.showPlaces();
        table.table.update(group.peers.map((peer) => [`${peer.id}`, peerCells(state, figures, name, group, peer, ask)]));
      }
    },
  };
}

interface GroupTable {
  readonly root: HTMLElement;
  readonly note: HTMLElement;
  readonly table: Table;
  /** Shows where the group is written, and who passes requests on to it. */
  showPlaces(): void;
}

function groupTable(name: string): GroupTable {
  const note = el('span', { class: 'soft' });
  const titles = [
    'Server',
    'State',
    'req/s',
    'active',
    'requests',
    '2xx 3xx 4xx 5xx',
    '5xx',
    'failed',
    'mean',
    'p95',
    'checks',
    'weight',
    '(action)',
  ];
  const table = new Table(
    `Servers of ${name}`,
    titles.map((title) => ({ title, ...(title === 'State' ? { look: 'text' as const } : {}) })),
    'No servers.',
  );
  const heading = el('span', {}, name);
  const from = el('span', { class: 'soft' });
  let known: unknown;
  const showPlaces = (): void => {
    const { places } = shown;
    if (known === places) {
      return;
    }
    known = places;
    const block = places.find('upstream', name);
    heading.replaceChildren(block === undefined ? name : lineLink(name, block));
    from.replaceChildren(
      ...places
        .users(name)
        .slice(0, MOST_USERS)
        .flatMap(({ server, location }, i) => [
          i === 0 ? 'from ' : ', ',
          lineLink(server.zone ?? server.text, server),
          ' ',
          lineLink(location.text.replace(/^location /, ''), location),
        ]),
    );
  };
  return { root: el('div', {}, el('h3', {}, heading, ' ', note, ' ', from), table.root), note, table, showPlaces };
}

function peerCells(state: State, figures: Figures, group: string, { zone }: Group, peer: Peer, ask: Ask): Cell[] {
  const [look, word] = PEER_LOOKS[peer.state];
  const since = peer.downstart === undefined ? '' : ` ${span(state.now - Date.parse(peer.downstart))}`;
  const { checks, fails } = peer.health_checks;
  const { requests, classes, lost, time: milliseconds, buckets } = figures.peers.get(peer.meter) ?? NOTHING;
  const answered = classes.reduce((sum, n) => sum + n, 0);
  return [
    shown.places.cell(`${peer.server}${peer.backup ? ' (backup)' : ''}`, undefined, `://${peer.server}`),
    pill(`${word}${since}`, look),
    rate(requests / figures.seconds),
    grey(peer.active),
    count(requests),
    classBar(classes),
    alarming(classes[4]!, 'bad'),
    alarming(lost, 'bad'),
    time(answered === 0 ? 0 : milliseconds / answered),
    time(quantile(buckets, 0.95)),
    checks === 0 ? { text: '–', look: 'zero' } : { text: `${count(fails)} of ${count(checks)} failed`, look: fails === 0 ? '' : 'warn' },
    `${peer.weight}`,
    !state.write || zone === undefined ? '' : requestPeerButton(group, peer, ask),
  ];
}

/** A button that does something with a server of a group: what it is called, what that brings about, and what the API is told. */
export function peerButton(ask: Ask, word: string, group: string, server: string, text: string, change: object): Cell {
  return {
    key: word,
    make() {
      const button = el('button', { type: 'button', 'aria-label': `${word} ${server} of ${group}` }, word);
      button.addEventListener('click', () => ask({ title: `${word} ${server}?`, text, yes: word, change }));
      return button;
    },
  };
}

function requestPeerButton(group: string, { id, server, state }: Peer, ask: Ask): Cell {
  const change = { upstream: group, id };
  if (state === 'draining' || state === 'down') {
    return peerButton(ask, 'Enable', group, server, `The server takes requests of ${group} again.`, { action: 'enable', ...change });
  }
  const text = `The server gets no new requests of ${group}, but for sessions that belong to it. Requests under way are finished.`;
  return peerButton(ask, 'Drain', group, server, text, { action: 'drain', ...change });
}

const sum = (all: readonly { readonly responses: number }[]): number => all.reduce((total, { responses }) => total + responses, 0);

/** Which entries are purged by what. */
const MEANT: Readonly<Record<string, string>> = { key: 'with the key', prefix: 'whose keys begin with', tag: 'with the tag' };

/** Caches. */
export function cachesPart(ask: Ask): Part {
  const { root, note, body } = section('caches', 'Caches');
  const titles = ['Name', 'hit ratio', '(hit ratio as a bar)', 'hits', 'misses', 'expired', 'stale', 'bypassed', 'size', 'limit'];
  const table = new Table(
    'Caches',
    titles.map((title) => ({ title })),
    'No caches.',
  );
  const choice = el('select', { 'aria-label': 'Cache' }) as HTMLSelectElement;
  const by = el(
    'select',
    { 'aria-label': 'What to purge by' },
    ...['key', 'prefix', 'tag'].map((word) => el('option', {}, word)),
  ) as HTMLSelectElement;
  const text = el('input', {
    type: 'text',
    'aria-label': 'Text to purge by',
    placeholder: 'such as http://app/page',
    required: '',
  }) as HTMLInputElement;
  const soft = el('input', { type: 'checkbox' }) as HTMLInputElement;
  const form = el('form', { class: 'purge' }, choice, by, text, el('label', {}, soft, ' keep as stale'), el('button', {}, 'Purge'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask({
      title: 'Purge the cache?',
      text: `Entries of cache ${choice.value} ${MEANT[by.value]} ${text.value} are ${soft.checked ? 'stale from now on' : 'removed'}.`,
      yes: 'Purge',
      change: { action: 'purge', cache: choice.value, [by.value]: text.value, soft: soft.checked },
    });
  });
  body.append(table.root, form);
  return {
    root,
    update(state) {
      const all = Object.entries(state.caches);
      root.hidden = all.length === 0;
      form.hidden = !state.write;
      setText(note, `${all.length}`);
      const names = all.map(([name]) => name);
      if (names.join('\n') !== [...choice.options].map(({ value }) => value).join('\n')) {
        choice.replaceChildren(...names.map((name) => el('option', {}, name)));
      }
      table.update(all.map(([name, cache]) => [name, cacheCells(name, cache)]));
    },
  };
}

function cacheCells(name: string, cache: Cache): Cell[] {
  const hits = sum([cache.hit, cache.stale, cache.updating, cache.revalidated]);
  const all = hits + sum([cache.miss, cache.expired, cache.bypass]);
  const share = all === 0 ? 0 : hits / all;
  return [
    name,
    all === 0 ? '–' : percent(share),
    bar([[share, 'bq']], `${percent(share)} from the cache`),
    count(cache.hit.responses),
    count(cache.miss.responses),
    grey(cache.expired.responses),
    grey(cache.stale.responses + cache.updating.responses),
    grey(cache.bypass.responses),
    `${bytes(cache.size)}${cache.cold ? ' (loading)' : ''}`,
    cache.max_size === undefined ? 'none' : bytes(cache.max_size),
  ];
}

/** Limits of requests and of connections. */
export function limitsPart(): Part {
  const { root, note, body } = section('limits', 'Limits', 'half');
  const titles = ['Zone', 'of', 'passed', 'delayed', 'rejected', 'rejected/s', 'dry run'];
  const table = new Table(
    'Limits',
    titles.map((title) => ({ title })),
    'No limits.',
  );
  body.append(table.root);
  return {
    root,
    update(state, live) {
      const kinds = [
        ['requests', 'limit_reqs'],
        ['connections', 'limit_conns'],
      ] as const;
      const ofStream = Object.entries(state.stream?.limit_conns ?? {}).map(([name, limit]): readonly [string, Cell[]] => [
        `stream ${name}`,
        limitCells(
          name,
          'stream connections',
          limit,
          live.rate((seen) => seen.stream?.limit_conns[name]?.rejected),
        ),
      ]);
      const ofHttp = kinds.flatMap(([word, kind]) =>
        Object.entries(state[kind]).map(([name, limit]): readonly [string, Cell[]] => [
          `${kind} ${name}`,
          limitCells(
            name,
            word,
            limit,
            live.rate((seen) => seen[kind][name]?.rejected),
          ),
        ]),
      );
      const rows = [...ofHttp, ...ofStream];
      root.hidden = rows.length === 0;
      setText(note, `${rows.length}`);
      table.update(rows);
    },
  };
}

function limitCells(name: string, word: string, limit: Limit, rejected: number): Cell[] {
  return [
    name,
    word,
    count(limit.passed),
    limit.delayed === undefined ? '' : alarming(limit.delayed, 'warn'),
    alarming(limit.rejected, 'bad'),
    { text: rate(rejected), look: rejected > 0 ? 'bad' : 'zero' },
    grey(limit.rejected_dry_run + (limit.delayed_dry_run ?? 0)),
  ];
}

/** Shared zones. */
export function sharedZonesPart(): Part {
  const { root, note, body } = section('zones', 'Shared zones', 'half');
  const titles = ['Name', 'kind', 'used', '(used as a bar)', 'size', 'entries', 'evicted'];
  const table = new Table(
    'Shared zones',
    titles.map((title) => ({ title })),
    'No zones.',
  );
  body.append(table.root);
  return {
    root,
    update({ zones }) {
      root.hidden = zones.length === 0;
      setText(note, `${zones.length}`);
      table.update(
        zones.map((zone) => {
          const share = zone.size === 0 ? 0 : Math.min(1, zone.used / zone.size);
          return [
            `${zone.kind} ${zone.name}`,
            [
              zone.name,
              zone.kind,
              percent(share),
              bar([[share, share > 0.9 ? 'bb' : share > 0.75 ? 'bw' : 'bq']], `${percent(share)} used`),
              bytes(zone.size),
              count(zone.entries),
              alarming(zone.evictions, 'warn'),
            ],
          ];
        }),
      );
    },
  };
}

const DAY = 86_400_000;

/** TLS with clients: handshakes and certificates. */
export function tlsPart(): Part {
  const { root, note, body } = section('tls', 'TLS and certificates', 'half');
  const table = new Table(
    'Certificates',
    ['Certificate', 'server', 'issuer', 'days left'].map((title) => ({ title })),
    'No certificates.',
  );
  body.append(table.root);
  return {
    root,
    update({ ssl, certificates, now }) {
      root.hidden = certificates.length === 0 && ssl.handshakes + ssl.handshakes_failed === 0;
      setText(note, `${count(ssl.handshakes)} handshakes, ${count(ssl.handshakes_failed)} failed, ${count(ssl.session_reuses)} resumed`);
      table.update(
        [...certificates]
          .sort((a, b) => a.notAfter - b.notAfter)
          .map(({ server, subject, issuer, notAfter }, i) => {
            const days = Math.floor((notAfter - now) / DAY);
            return [`${i} ${subject}`, [subject || server, server, issuer, pill(`${days}`, days < 7 ? 'bad' : days < 21 ? 'warn' : 'ok')]];
          }),
      );
    },
  };
}

/** Why requests failed. */
export function reasonsPart(): Part {
  const { root, note, body } = section('reasons', 'Why requests failed');
  const table = new Table(
    'Reasons of errors',
    [{ title: 'Reason', look: 'text wrap' }, { title: 'path of the location', look: 'text' }, { title: 'requests' }],
    'No errors of the server itself.',
  );
  body.append(table.root);
  return {
    root,
    update({ history }, live) {
      const { reasons, name } = live.figures;
      root.hidden = !history;
      setText(note, `errors that the server itself answered with, ${live.past === undefined ? 'last 5 min' : name}`);
      table.update(
        reasons.slice(0, 12).map(({ reason, path, count: n }) => {
          // The log has other words between marks.
          const parts = reason.split('"');
          const part = parts[0]!.trim() || parts.sort((a, b) => b.length - a.length)[0];
          return [`${reason}\n${path}`, [shown.places.cell(reason, undefined, part!.trim()), path, count(n)]];
        }),
      );
    },
  };
}

/** Worker processes. */
export function workersPart(): Part {
  const { root, note, body } = section('workers', 'Workers', 'half');
  const table = new Table(
    'Workers',
    ['Process', 'req/s', 'requests', 'now', 'connections', 'idle', 'accepted'].map((title) => ({ title })),
    'No worker has had a client.',
  );
  body.append(table.root);
  return {
    root,
    update({ workers, workers_configured, service, now }, live) {
      setText(note, `${workers_configured} configured; configuration ${service.generation}, loaded ${span(now - service.loadedAt)} ago`);
      table.update(
        workers.map(({ pid, connections, http }) => [
          `${pid}`,
          [
            `${pid}`,
            rate(live.rate((state) => state.workers.find((worker) => worker.pid === pid)?.http.requests.total)),
            count(http.requests.total),
            grey(http.requests.current),
            grey(connections.active),
            grey(connections.idle),
            count(connections.accepted),
          ],
        ]),
      );
    },
  };
}

/** Questions to DNS. */
export function resolversPart(): Part {
  const { root, note, body } = section('resolvers', 'Resolvers', 'half');
  const table = new Table(
    'Resolvers',
    ['Name', 'questions', 'answered', 'not found', 'failed', 'timed out'].map((title) => ({ title })),
    'No resolvers.',
  );
  body.append(table.root);
  return {
    root,
    update({ resolvers }) {
      const all = Object.entries(resolvers);
      root.hidden = all.length === 0;
      setText(note, `${all.length}`);
      table.update(
        all.map(([name, { requests, responses }]) => {
          const failed = ['formerr', 'servfail', 'notimp', 'refused', 'unknown'].reduce((total, word) => total + (responses[word] ?? 0), 0);
          return [
            name,
            [
              name,
              count((requests['name'] ?? 0) + (requests['srv'] ?? 0) + (requests['addr'] ?? 0)),
              count(responses['noerror'] ?? 0),
              grey(responses['nxdomain'] ?? 0),
              alarming(failed, 'bad'),
              alarming(responses['timedout'] ?? 0, 'bad'),
            ],
          ];
        }),
      );
    },
  };
}
