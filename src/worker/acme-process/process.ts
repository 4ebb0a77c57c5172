import { In } from '../../shared/config/context.js';
import { blockIn, type Loaded, loadFromSnapshot } from '../../shared/config/load.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import type { Level } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import type { AcmeZone, WantedName } from '../acme/acme-zone.js';
import { FleetState } from '../acme/fleet-state.js';
import { orderFor } from '../acme/on-demand.js';
import { ordersOf } from '../acme/orders.js';
import { acmeScope, onDemandIssuers, zoneOf } from '../acme/scopes.js';
import type { Issuer, Order } from '../acme/settings.js';
import { StateFolder, StateInZone, type StateStore } from '../acme/state-folder.js';
import { redisPackage } from '../fleet/connection.js';
import type { Request } from '../http/request/request.js';
import { language } from '../language.js';
import { namesScope } from '../modules/server/index.js';
import { sharedStoreScope } from '../modules/shared-store/index.js';
import { sslScope } from '../modules/ssl/directives.js';
import { resolverScope } from '../resolver/directive/resolver-settings.js';
import { DnsResolver } from '../resolver/dns-resolver.js';
import { AcmeAuthority } from './acme-authority.js';
import type { Authority } from './authority.js';
import { acmePackage } from './client.js';
import { FleetLead } from './fleet-lead.js';
import { FollowedFiles } from './followed-files.js';
import { InternalAuthority } from './internal-authority.js';
import { x509Package } from './issue-certificate.js';
import { IssuerRunner } from './issuer-runner.js';
import { lookupBy } from './lookup.js';

/** How often (milliseconds) the process makes sure that it leads. */
const LOOK = 1000;
/** A process that did not do so for this long has lost the lead to another one, such as that of a newer configuration. */
const LEASE = 10_000;

/** The process that gets certificates from CAs and renews them. Workers find them in the zone. */
export function serveAcme(worker: WorkerProcess): Server {
  const loaded = loadFromSnapshot<Request>(language, worker.snapshot);
  return new AcmeProcess(worker, loaded);
}

const ownState = (zone: AcmeZone, { name, statePath }: Issuer): StateStore =>
  statePath === undefined ? new StateInZone(zone, name) : new StateFolder(statePath);

/** The orders for names that are asked for on demand. */
const ordersFor = (names: readonly WantedName[], issuers: ReadonlyMap<string, Issuer>): Order[] =>
  names.flatMap(({ issuer, name }) => {
    const known = issuers.get(issuer);
    return known === undefined ? [] : [orderFor(known, name)];
  });

class AcmeProcess implements Server {
  readonly #zones: SqliteZoneStore;
  readonly #make: () => readonly IssuerRunner[];
  readonly #lead: (done: (leads: boolean) => void) => void;
  readonly #resign: () => void;
  readonly #fleet: (() => FleetLead) | undefined;
  /** The issuers that give certificates on demand, by their names. */
  readonly #onDemand: ReadonlyMap<string, Issuer>;
  readonly #zone: AcmeZone;
  /** The names on demand that the runners take care of; undefined while they are not done with a change. */
  #told: string | undefined = '';
  #following: FleetLead | undefined = undefined;
  #resolver: DnsResolver | undefined = undefined;
  #runners: readonly IssuerRunner[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  #closed = false;

  constructor({ zones: plan, id, log }: WorkerProcess, loaded: Loaded<Request>) {
    const http = blockIn(loaded.root, In.HTTP)!;
    this.#zones = new SqliteZoneStore(plan, loaded.zones.all(), id, log);
    const settings = loaded.settings(acmeScope, http);
    const orders = new Map(
      [...ordersOf(http, loaded, { names: namesScope, tls: sslScope }).values()].map((order) => [order.zoneId, order]),
    );
    const { resolver, resolverTimeout } = loaded.settings(resolverScope, http);
    const zone = this.#zones.open(zoneOf(settings));
    this.#lead = (done) => zone.lead(LEASE, done);
    this.#resign = () => zone.resign();
    const { store } = loaded.settings(sharedStoreScope, loaded.root);
    const synced = store !== undefined && zoneOf(settings).data?.sync === true;
    if (synced) {
      redisPackage();
    }
    this.#fleet = synced ? () => new FleetLead(store, zone, log, new FollowedFiles(orders, log)) : undefined;
    this.#zone = zone;
    const onDemand = new Map(onDemandIssuers(settings).map((issuer) => [issuer.name, issuer]));
    this.#onDemand = onDemand;
    const all = [...[...orders.values()].map(({ issuer }) => issuer), ...onDemand.values()];
    for (const { kind } of all) {
      (kind === 'internal' ? x509Package : acmePackage)();
    }
    this.#make = () => {
      const fleet = this.#following;
      const earlier = new Map(fleet === undefined ? [] : zone.reports().map((report) => [report.id, report]));
      this.#resolver ??= resolver === undefined ? undefined : new DnsResolver(resolver, log);
      const lookup = this.#resolver === undefined ? undefined : lookupBy(this.#resolver, resolverTimeout);
      const wanted = ordersFor(this.#wanted(), onDemand).map(({ zoneId }) => zoneId);
      zone.keepReports(new Set([...orders.keys(), ...wanted]));
      const issuers = new Map<string, Issuer>(all.map((one) => [one.name, one]));
      return [...issuers.values()].map((issuer) => {
        const own = [...orders.values()].filter((order) => order.issuer.name === issuer.name);
        const state = synced ? new FleetState(zone, issuer.name, issuer.statePath) : ownState(zone, issuer);
        const authority = (say: (level: Level, message: string) => void): Authority =>
          issuer.kind === 'internal' ? new InternalAuthority(state, say) : new AcmeAuthority(issuer, zone, state, lookup, fleet, say);
        return new IssuerRunner(issuer, own, zone, state, log, authority, earlier);
      });
    };
  }

  start(): void {
    this.#look();
  }

  drain(done: () => void): void {
    this.terminate();
    done();
  }

  terminate(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#stop();
    this.#following?.close();
    this.#resolver?.close();
    this.#resign();
    this.#zones.close();
  }

  #look(): void {
    this.#timer = setTimer(() => this.#look(), LOOK);
    this.#lead((leads) => this.#led(this.#fleet === undefined ? leads : this.#leadsFleet(leads, this.#fleet)));
  }

  /** Whether this machine gets certificates; `alone`: of this machine's processes this is the one that has to do with the fleet. */
  #leadsFleet(alone: boolean, begin: () => FleetLead): boolean {
    if (this.#closed) {
      return false;
    }
    if (!alone) {
      this.#following?.close();
      this.#following = undefined;
      return false;
    }
    this.#following ??= begin();
    const { leads } = this.#following;
    this.#following.renew();
    return leads && this.#following.leads;
  }

  #led(leads: boolean): void {
    if (this.#closed) {
      return;
    }
    if (!leads) {
      this.#stop();
      return;
    }
    if (this.#runners.length === 0) {
      this.#runners = this.#make();
      for (const runner of this.#runners) {
        runner.start();
      }
    }
    this.#tellWanted();
  }

  #wanted(): readonly WantedName[] {
    return this.#onDemand.size === 0 ? [] : this.#zone.wanted();
  }

  /** Tells the issuers which names are asked for on demand, if these are others than the last time. */
  #tellWanted(): void {
    const names = this.#wanted();
    const told = names.map(({ issuer, name }) => `${issuer} ${name}`).join('\n');
    if (told === this.#told) {
      return;
    }
    const wanted = ordersFor(names, this.#onDemand);
    const done = this.#runners.map((runner) => runner.want(wanted.filter(({ issuer }) => issuer.name === runner.name)));
    this.#told = done.includes(false) ? undefined : told;
  }

  #stop(): void {
    for (const runner of this.#runners) {
      runner.stop();
    }
    this.#runners = [];
    this.#told = '';
  }
}
