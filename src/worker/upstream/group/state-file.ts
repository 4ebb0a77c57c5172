import { replaceStateFile } from '../../../shared/files/state-file.js';
import type { Logger } from '../../../shared/log/error-log.js';
import { ALERT } from '../../../shared/log/level.js';
import { DOWN, DRAINING, defaultPeerOptions, type Peer, type PeerOptions, type PeerSet } from '../balancing/peer.js';
import { FIRST_RESOLVED_ID } from './dynamic-server.js';
import type { GroupServer } from './group-config.js';

/** The file of `state` in an `upstream {}`: the group's servers as `server` lines. */
export class GroupState {
  readonly #path: string;
  readonly #group: string;
  /** The lines whose servers are looked up while sluice runs. */
  readonly #dynamic: readonly GroupServer[];
  readonly #log: Logger;

  constructor(path: string, group: string, dynamic: readonly GroupServer[], log: Logger) {
    this.#path = path;
    this.#group = group;
    this.#dynamic = dynamic;
    this.#log = log;
  }

  /** Writes the servers as they are. For inside the transaction that has changed them, so that no older list replaces a newer one. */
  write(set: PeerSet): void {
    const known = (peers: readonly Peer[] | undefined): readonly Peer[] => (peers ?? []).filter(({ id }) => id < FIRST_RESOLVED_ID);
    const lines = [
      ...known(set.peers).map((peer) => serverLine(peer.name, optionsOf(peer), [])),
      ...known(set.backup?.peers).map((peer) => serverLine(peer.name, optionsOf(peer), ['backup'])),
      ...this.#dynamic.map(({ url, options, backup, resolve, service }) =>
        serverLine(url.url, options, [
          ...(backup ? ['backup'] : []),
          resolve === 'lazy' ? 'resolve=lazy' : 'resolve',
          ...(service === '' ? [] : [`service=${service}`]),
        ]),
      ),
    ];
    try {
      // A disk may take long, and the writer holds a zone.
      replaceStateFile(this.#path, Buffer.from(lines.join(''), 'latin1'), { onDisk: 'after' });
    } catch (error) {
      this.#log.log(ALERT, `upstream "${this.#group}": the state cannot be written (${(error as Error).message})`);
    }
  }
}

const optionsOf = (peer: Peer): PeerOptions => ({ ...peer, route: peer.hasRoute ? peer.sid : '' });

function serverLine(name: string, options: PeerOptions, more: readonly string[]): string {
  const differs = (field: keyof PeerOptions): boolean => options[field] !== defaultPeerOptions[field];
  const words = [
    name,
    ...(differs('weight') ? [`weight=${options.weight}`] : []),
    ...(differs('maxConns') ? [`max_conns=${options.maxConns}`] : []),
    ...(differs('maxFails') ? [`max_fails=${options.maxFails}`] : []),
    ...(differs('failTimeout') ? [`fail_timeout=${options.failTimeout}s`] : []),
    ...(differs('slowStart') ? [`slow_start=${options.slowStart}ms`] : []),
    ...(differs('route') ? [`route=${options.route}`] : []),
    ...((options.down & DOWN) !== 0 ? ['down'] : []),
    ...((options.down & DRAINING) !== 0 ? ['drain'] : []),
    ...more,
  ];
  return `server ${words.map(quoted).join(' ')};\n`;
}

/** A word as the configuration has to write it. */
const quoted = (word: string): string => (/[\s;{}"'\\#]/.test(word) ? `"${word.replace(/["\\]/g, '\\$&')}"` : word);
