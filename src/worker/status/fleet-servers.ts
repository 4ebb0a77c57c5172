import { WARN } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { streamPeerKind } from '../../shared/zone/meter-kinds.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../fleet/replica-zone.js';
import { Seals } from '../fleet/seals.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import type { UpstreamGroup } from '../upstream/group/group.js';
import { groupsOf } from '../upstream/group/groups.js';
import { REMOVED, type ServerChanges } from '../upstream/group/server-changes.js';
import { ApiRefusal } from './api-question.js';
import { addServer, changeServer, fieldsOf, peersOf, removeServer } from './api-servers.js';

/** So long (milliseconds) it is known that a server was taken away: thirty days. */
const REMOVED_LIFE = 30 * 24 * 3600 * 1000;
const TRIES = 1000;
/** The longest text that is taken over, sealed. */
const MAX_TEXT = 16 * 1024;

/**
 * Changes servers of this machine's groups as the API of another machine has changed its own. One worker of a machine does it. A server
 * goes by its address, since machines may count their servers differently.
 */
export class FleetServers implements ReplicaZone {
  readonly replicaName: string;
  readonly #runtime: ProtocolRuntime;
  readonly #changes: ServerChanges;
  readonly #seals: Seals;

  constructor(runtime: ProtocolRuntime, changes: ServerChanges) {
    this.#runtime = runtime;
    this.#changes = changes;
    this.replicaName = runtime.peerKind === streamPeerKind ? 'upstream:stream' : 'upstream:http';
    const { name, keys } = runtime.env.store!.settings;
    this.#seals = new Seals(keys, `servers of ${name} ${this.replicaName}`);
  }

  get outbox(): ServerChanges['outbox'] {
    return this.#changes.outbox;
  }

  current(key: string): ReplicaValue | undefined {
    const text = this.#changes.get(key);
    return text === undefined ? undefined : { text: this.#seals.seal(key, Buffer.from(text)), life: text === REMOVED ? REMOVED_LIFE : 0 };
  }

  replicaKeys(): readonly string[] {
    return this.#changes.keys();
  }

  takeOver(changes: readonly ReplicaChange[]): void {
    let taken: [key: string, text: string][] = [];
    const work = (): void => {
      taken = [];
      for (const { key, value } of changes) {
        // That the store has lost a server does not take it away.
        const bytes =
          value === undefined || this.outbox.has(key) || value.text.length > MAX_TEXT ? undefined : this.#seals.open(key, value.text);
        if (typeof bytes === 'string') {
          this.#complain(key, bytes === 'foreign' ? 'it is encrypted with a key that this machine does not have' : 'it came to harm');
        } else if (bytes !== undefined) {
          this.#changes.put(key, bytes.toString());
          this.outbox.forget(key);
          taken.push([key, bytes.toString()]);
        }
      }
    };
    if (!nowPatiently(this.#changes.sql, work, TRIES)) {
      throw new Error('the zone of changed servers is held by another process');
    }
    for (const [key, text] of taken) {
      this.#apply(key, text);
    }
  }

  #apply(key: string, text: string): void {
    const line = key.indexOf('\n');
    const group = groupsOf(this.#runtime).all.find(({ name, changes }) => changes !== undefined && name === key.slice(0, line));
    if (group === undefined) {
      return;
    }
    try {
      applyTo(group, key.slice(line + 1), text, this.#runtime.peerKind === streamPeerKind);
    } catch (error) {
      // A zone that is busy is tried again.
      if (!(error instanceof ApiRefusal) || error.answer.status === 503) {
        throw error;
      }
      this.#complain(key, error.message);
    }
  }

  #complain(key: string, why: string): void {
    const { env } = this.#runtime;
    env.log.log(WARN, `shared store "${env.store!.settings.name}": server "${oneLine(key)}" is not changed: ${why}`);
  }
}

function applyTo(group: UpstreamGroup, name: string, text: string, ofStream: boolean): void {
  group.shared?.refresh();
  const peer = peersOf(group).find((each) => each.name === name);
  if (text === REMOVED) {
    if (peer !== undefined) {
      removeServer(group, peer);
    }
    return;
  }
  const { id: _id, added, backup, ...fields } = fieldsOf(text);
  if (peer !== undefined) {
    const { server: _server, ...rest } = fields;
    changeServer(group, peer, rest, ofStream);
  } else if (added === true) {
    addServer(group, { ...fields, backup }, ofStream);
  }
}
