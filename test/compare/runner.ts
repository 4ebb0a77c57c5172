import type { Axis, Run } from './axes.js';
import { Backend } from './backend.js';
import type { Case } from './case.js';
import { converse } from './client.js';
import { caseConfiguration, FORMS, portOf } from './configuration.js';
import type { Compared } from './differences.js';
import { type Observation, observe } from './observation.js';
import type { Site } from './site.js';

/** A case that a server does not take. */
export interface Refusal {
  readonly case: Case;
  readonly site: string;
  readonly message: string;
}

export interface Batch {
  readonly compared: readonly Compared[];
  readonly refused: readonly Refusal[];
}

/** How many cases are played at a time. */
const AT_ONCE = 6;
/** Milliseconds for lines of the access log that may come, after the client has what it wanted. */
const PATIENCE = 2000;

let runs = 0;

/** Plays batches of cases to servers that run. */
export class Runner {
  readonly #sites: ReadonlyMap<string, Site>;

  constructor(sites: ReadonlyMap<string, Site>) {
    this.#sites = sites;
  }

  /** Configures all cases at once, and compares each of them on each axis. */
  async play(cases: readonly Case[], axes: readonly Axis[]): Promise<Batch> {
    const refused: Refusal[] = [];
    const players = new Map<string, Player>();
    for (const [i, one] of cases.entries()) {
      players.set(`c${i}`, await Player.make(one, `c${i}`));
    }
    for (const site of this.#sites.values()) {
      await this.#load(site, players, refused);
    }
    const compared: Compared[] = [];
    const waiting = [...players.values()];
    const lane = async (): Promise<void> => {
      for (let player = waiting.shift(); player !== undefined; player = waiting.shift()) {
        compared.push(...(await player.compare(this.#sites, axes)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    for (const player of players.values()) {
      player.close();
    }
    return { compared, refused };
  }

  /** Takes out one case after another until the server takes the rest. */
  async #load(site: Site, players: Map<string, Player>, refused: Refusal[]): Promise<void> {
    for (;;) {
      try {
        await site.load(new Map([...players].map(([name, { text }]) => [name, text])));
        site.forget();
        return;
      } catch (error) {
        const message = (error as Error).message;
        const name = /cases\/(c\d+)\.conf/.exec(message)?.[1];
        const player = name === undefined ? undefined : players.get(name);
        if (player === undefined) {
          throw error;
        }
        refused.push({ case: player.case, site: site.name, message });
        player.close();
        players.delete(name!);
      }
    }
  }
}

/** One case of a batch, with its backend. */
class Player {
  readonly case: Case;
  readonly text: string;
  readonly #name: string;
  readonly #backend: Backend;
  readonly #port: number;

  private constructor(one: Case, name: string, backend: Backend, port: number) {
    this.case = one;
    this.text = caseConfiguration(one, name, port);
    this.#name = name;
    this.#backend = backend;
    this.#port = port;
  }

  static async make(one: Case, name: string): Promise<Player> {
    const backend = new Backend(one.answer);
    return new Player(one, name, backend, await backend.listen());
  }

  close(): void {
    this.#backend.close();
  }

  async compare(sites: ReadonlyMap<string, Site>, axes: readonly Axis[]): Promise<Compared[]> {
    const seen = new Map<string, Observation>();
    const hosts = new Map<string, string>();
    const observed = async (run: Run): Promise<Observation> => {
      const key = JSON.stringify(run);
      // The second of two same runs is under the first one's name.
      const hostKey = JSON.stringify({ ...run, nth: 1 });
      const host = hosts.get(hostKey) ?? `r${String(++runs).padStart(7, '0')}.${this.#name}.test`;
      hosts.set(hostKey, host);
      const observation = seen.get(key) ?? (await this.#observe(run, host, sites.get(run.site)!));
      seen.set(key, observation);
      return observation;
    };
    const compared: Compared[] = [];
    for (const axis of axes) {
      if (axis.applies(this.case)) {
        compared.push({ axis, case: this.case, left: await observed(axis.left), right: await observed(axis.right) });
      }
    }
    return compared;
  }

  async #observe({ form, tls, http2, bytewise }: Run, host: string, site: Site): Promise<Observation> {
    this.#backend.begin(this.case.answer);
    const port = site.server.port(portOf(form, tls));
    const conversation = await converse({ port, tls, http2, bytewise }, this.case.client, host);
    const expected = Math.max(conversation.responses.length, 1);
    const log = await site.logOf(conversation.from, expected, PATIENCE);
    const errors = log[0] === undefined ? [] : site.errorsOf(log[0]);
    const ports = FORMS.flatMap((each) => [site.server.port(portOf(each, false)), site.server.port(portOf(each, true))]);
    const around = { dir: site.server.dir, host, ports: [...ports, conversation.from], backend: this.#port };
    return observe({ conversation, asked: this.#backend.requests, log, errors }, around);
  }
}
