import { type Axis, isCommon, type Run } from './axes.js';
import { Backend } from './backend.js';
import { type Case, isFront, isStream } from './case.js';
import { converse, type Watch } from './client.js';
import { type CaseText, caseConfiguration, FORMS, PROXIED, portOf, STREAM, streamAddress, type Wanted } from './configuration.js';
import type { Compared } from './differences.js';
import { type Observation, observe } from './observation.js';
import { unnamedOf } from './rules.js';
import { runHost } from './run-host.js';
import { portKey, type Site, type Wire } from './site.js';

/** A case that a server does not take. */
export interface Refusal {
  readonly case: Case;
  readonly site: string;
  readonly message: string;
}

/** Takes what comes of a batch, one after the other: all of it at once would be gigabytes. */
export interface Results {
  readonly compared: (one: Compared) => void;
  readonly refused: (refusal: Refusal) => void;
  /** A comparison that was different at first, and not each time that it was played again. */
  readonly passing: (first: Compared) => void;
}

/** Milliseconds by the server's clock that a run waits for what may still come. */
interface Patience {
  /** For a response, while the server has logged nothing. */
  readonly response: number;
  /** For bytes, once the server has logged all requests. */
  readonly grace: number;
  /** For lines of the access log, once the client has what it wanted. */
  readonly lines: number;
  /** For more lines than there are responses, and for what backends are asked beside them. */
  readonly settle: number;
}

/** Cases that are played at a time. */
const AT_ONCE = 64;
const QUICK: Patience = { response: 3000, grace: 300, lines: 1000, settle: 0 };
const PATIENT: Patience = { response: 6000, grace: 2000, lines: 3000, settle: 250 };
/** When a comparison is played again, up to five times: a difference without a name must show each time to count. */
const AGAIN: readonly Patience[] = [PATIENT, { response: 30_000, grace: 6000, lines: 10_000, settle: 1000 }, PATIENT, PATIENT, PATIENT];

let runs = 0;

/** Plays batches of cases to servers that run. */
export class Runner {
  readonly #sites: ReadonlyMap<string, Site>;
  /** Cases of the batch that were taken out. */
  readonly #out = new Map<string, Player>();

  constructor(sites: ReadonlyMap<string, Site>) {
    this.#sites = sites;
  }

  /**
   * Configures all cases at once, and compares each of them on each axis. `until`: milliseconds since the epoch, from which on no
   * comparison is begun. `again`: how often a difference without a name must show again.
   */
  async play(
    cases: readonly Case[],
    axes: readonly Axis[],
    results: Results,
    { until = Number.POSITIVE_INFINITY, again = AGAIN.length }: { readonly until?: number; readonly again?: number } = {},
  ): Promise<void> {
    this.#out.clear();
    const players = new Map<string, Player>();
    for (const [i, group] of alike(cases).entries()) {
      players.set(`c${i}`, await Player.make(group, `c${i}`));
    }
    await this.#load(players, axes, results);
    const waiting = [...players.values()];
    const lane = async (): Promise<void> => {
      for (let player = waiting.shift(); player !== undefined; player = waiting.shift()) {
        if (Date.now() < until) {
          await player.compare(this.#sites, axes, results, AGAIN.slice(0, again), until);
        }
        player.close();
      }
    };
    let over = false;
    const reloads = [...this.#sites.values()].filter(({ reloads }) => reloads).map((site) => site.reloadUntil(() => over));
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    over = true;
    await Promise.all(reloads);
  }

  /** Seconds of processor time so far, by the name of who took them. */
  seconds(): Map<string, number> {
    const { user, system } = process.cpuUsage();
    const sites = [...this.#sites.values()].map((site): [string, number] => [site.name, Math.round(site.seconds())]);
    return new Map([['clients and backends', Math.round((user + system) / 1e6)], ...sites]);
  }

  /** Takes out one case after another until all servers take the rest. */
  async #load(players: Map<string, Player>, axes: readonly Axis[], results: Results): Promise<void> {
    const sites = [...this.#sites.values()];
    for (let all = false; !all; ) {
      const textsFor = ({ name }: Site): Map<string, CaseText> => {
        const wanted = wantedOf(name, axes);
        const taken = [...players].filter(([, player]) => name !== 'nginx' || isCommon(player.cases[0]!));
        return new Map(taken.map(([id, player]) => [id, player.text(wanted)]));
      };
      const loads = await Promise.allSettled(sites.map((site) => site.load(textsFor(site))));
      all = true;
      for (const [i, load] of loads.entries()) {
        if (load.status === 'rejected') {
          all = false;
          results.refused(this.#takeOut(sites[i]!, players, load.reason as Error));
        }
      }
    }
    for (const site of sites) {
      site.forget();
    }
  }

  #takeOut(site: Site, players: Map<string, Player>, error: Error): Refusal {
    const name = /\bcase (c\d+)/.exec(error.message)?.[1];
    const player = this.#refusable(name, players);
    if (player === undefined) {
      throw error;
    }
    player.close();
    return { case: player.cases[0]!, site: site.name, message: error.message };
  }

  /** The case of a name, which is taken out; one that another server refused too is only told of. */
  #refusable(name: string | undefined, players: Map<string, Player>): Player | undefined {
    const player = name === undefined ? undefined : (players.get(name) ?? this.#out.get(name));
    if (name !== undefined && player !== undefined) {
      players.delete(name);
      this.#out.set(name, player);
    }
    return player;
  }
}

/** What a site is asked for on these axes: what nobody asks for would only be read. */
function wantedOf(site: string, axes: readonly Axis[]): Wanted[] {
  const runs = axes.flatMap(({ left, right }) => [left, right]).filter((run) => run.site === site);
  return FORMS.filter((form) => runs.some((run) => run.form === form)).map((form) => ({
    form,
    tls: runs.some((run) => run.form === form && run.tls && !run.http3),
    http3: runs.some((run) => run.form === form && run.http3),
    proxied: runs.some((run) => run.form === form && run.proxied === true),
  }));
}

/**
 * How many lines of the access log there are about a client's so many responses: a session has one, unless its connection is handed on, and
 * so have the requests that it hands on.
 */
function linesOf(one: Case, responses: number): number {
  const passed = one.parts.some(({ name }) => name === 'stream-pass');
  return !isStream(one) || passed || one.client.through === 'udp' ? responses : isFront(one) ? responses + 1 : 1;
}

/** What a server does behind a response. */
const BEHIND = /post_action|mirror|proxy_store|_cache /;

/** Cases in groups of the same configuration. */
function alike(cases: readonly Case[]): Case[][] {
  const groups = new Map<string, Case[]>();
  for (const one of cases) {
    const key = JSON.stringify([one.parts, one.client.through]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(one);
  }
  return [...groups.values()];
}

/** The cases of one configuration in a batch, which are played one after the other, with their backend. */
class Player {
  readonly cases: readonly Case[];
  readonly #name: string;
  readonly #backend: Backend;
  readonly #port: number;
  /** A server does something behind a response. */
  readonly #behind: boolean;

  private constructor(cases: readonly Case[], name: string, backend: Backend, port: number) {
    this.cases = cases;
    this.#name = name;
    this.#backend = backend;
    this.#port = port;
    this.#behind = BEHIND.test(JSON.stringify(cases[0]!.parts));
  }

  static async make(cases: readonly Case[], name: string): Promise<Player> {
    const backend = new Backend(cases[0]!.answer);
    return new Player(cases, name, backend, await backend.listen(cases[0]!.client.through === 'udp'));
  }

  /** Its configuration for what is asked for. */
  text(wanted: readonly Wanted[]): CaseText {
    return caseConfiguration(this.cases[0]!, this.#name, this.#port, wanted);
  }

  close(): void {
    this.#backend.close();
  }

  /** Compares each case on each axis that it has. */
  async compare(
    sites: ReadonlyMap<string, Site>,
    axes: readonly Axis[],
    results: Results,
    again: readonly Patience[],
    until: number,
  ): Promise<void> {
    for (const one of this.cases) {
      const seen = new Map<Run, Observation>();
      const hosts = new Map<string, string>();
      const observed = async (run: Run): Promise<Observation> => {
        const observation = seen.get(run) ?? (await this.#observe(one, run, hostOf(run, hosts, this.#name), sites.get(run.site)!, QUICK));
        seen.set(run, observation);
        return observation;
      };
      for (const axis of axes) {
        if (Date.now() < until && axis.applies(one)) {
          const first = { axis, case: one, left: await observed(axis.left), right: await observed(axis.right) };
          const confirmed = await this.#confirm(first, sites, again);
          results.compared(confirmed);
          if (confirmed !== first && unnamedOf(confirmed).length === 0) {
            results.passing(first);
          }
        }
      }
    }
  }

  /** Plays a comparison again if it has a difference without a name, with more patience; gives the one that counts. */
  async #confirm(one: Compared, sites: ReadonlyMap<string, Site>, patiences: readonly Patience[]): Promise<Compared> {
    let last = one;
    for (const patience of patiences) {
      if (unnamedOf(last).length === 0) {
        break;
      }
      const hosts = new Map<string, string>();
      const again = (run: Run) => this.#observe(one.case, run, hostOf(run, hosts, this.#name), sites.get(run.site)!, patience);
      last = { ...one, left: await again(one.axis.left), right: await again(one.axis.right) };
    }
    return last;
  }

  async #observe(
    one: Case,
    { form, tls, http2, http3, bytewise, proxied, early }: Run,
    host: string,
    site: Site,
    patience: Patience,
  ): Promise<Observation> {
    this.#backend.begin(one.answer);
    const { crashes } = site;
    const stream = isStream(one);
    const { through } = one.client;
    const http = proxied ? PROXIED : portOf(form, tls);
    const number = stream ? (proxied ? STREAM.proxied : tls ? STREAM.tls : STREAM.plain) : http;
    const transport = {
      port: site.server.port(number),
      ...(stream ? { address: streamAddress(this.#name) } : {}),
      tls: tls || through === 'tls',
      http2,
      http3,
      bytewise,
      proxied,
      early,
    };
    const wire = (from: number): Wire => ({ port: portKey(from, http3 || through === 'udp'), host });
    const watch: Watch = {
      logged: (from, requests) => site.logged(wire(from), requests),
      deadline: patience.response,
      grace: patience.grace,
      after: (milliseconds, ring) => site.clock.after(milliseconds, ring),
      settled: async (from, requests) => void (this.#behind ? await site.loggedWithin(wire(from), requests, patience.lines) : 0),
    };
    const conversation = await converse(transport, one.client, host, watch);
    const { length } = conversation.responses;
    const expected = Math.max(linesOf(one, length), 1);
    const log = await site.logOf(wire(conversation.from), expected, patience.lines, patience.settle);
    const errors = site.errorsOf(log);
    const { server, ports } = site;
    const around = { dir: server.dir, host, ports, from: String(conversation.from), backend: String(this.#port) };
    return observe({ conversation, asked: this.#backend.requests, log, errors, crashed: site.crashes > crashes }, around);
  }
}

/** The host name of a run. The second of two same runs is under the first one's name. */
function hostOf(run: Run, hosts: Map<string, string>, name: string): string {
  const key = keyOf(run);
  const host = hosts.get(key) ?? runHost(++runs, name);
  hosts.set(key, host);
  return host;
}

const keys = new WeakMap<Run, string>();

/** The same for two runs that differ in `nth` alone. */
function keyOf(run: Run): string {
  let key = keys.get(run);
  if (key === undefined) {
    key = JSON.stringify({ ...run, nth: 1 });
    keys.set(run, key);
  }
  return key;
}
