import { In } from '../../shared/config/context.js';
import { blockIn, type Loaded, loadFromSnapshot } from '../../shared/config/load.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import { setTimer } from '../../shared/time/timer.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import { ordersOf } from '../acme/orders.js';
import { acmeScope, zoneOf } from '../acme/scopes.js';
import { StateFolder, StateInZone } from '../acme/state-folder.js';
import type { Request } from '../http/request/request.js';
import { language } from '../language.js';
import { namesScope } from '../modules/server/index.js';
import { sslScope } from '../modules/ssl/directives.js';
import { resolverScope } from '../resolver/directive/resolver-settings.js';
import { DnsResolver } from '../resolver/dns-resolver.js';
import { AcmeAuthority } from './acme-authority.js';
import { InternalAuthority } from './internal-authority.js';
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

class AcmeProcess implements Server {
  readonly #zones: SqliteZoneStore;
  readonly #make: () => readonly IssuerRunner[];
  readonly #lead: (done: (leads: boolean) => void) => void;
  readonly #resign: () => void;
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
    this.#make = () => {
      this.#resolver ??= resolver === undefined ? undefined : new DnsResolver(resolver, log);
      const lookup = this.#resolver === undefined ? undefined : lookupBy(this.#resolver, resolverTimeout);
      zone.keepReports(new Set(orders.keys()));
      const issuers = new Map([...orders.values()].map(({ issuer }) => [issuer.name, issuer]));
      return [...issuers.values()].map((issuer) => {
        const own = [...orders.values()].filter((order) => order.issuer.name === issuer.name);
        const state = issuer.statePath === undefined ? new StateInZone(zone, issuer.name) : new StateFolder(issuer.statePath);
        return new IssuerRunner(issuer, own, zone, state, log, (say) =>
          issuer.kind === 'internal' ? new InternalAuthority(state, say) : new AcmeAuthority(issuer, zone, state, lookup, say),
        );
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
    this.#resolver?.close();
    this.#resign();
    this.#zones.close();
  }

  #look(): void {
    this.#timer = setTimer(() => this.#look(), LOOK);
    this.#lead((leads) => this.#led(leads));
  }

  #led(leads: boolean): void {
    if (this.#closed || leads === this.#runners.length > 0) {
      return;
    }
    if (!leads) {
      this.#stop();
      return;
    }
    this.#runners = this.#make();
    for (const runner of this.#runners) {
      runner.start();
    }
  }

  #stop(): void {
    for (const runner of this.#runners) {
      runner.stop();
    }
    this.#runners = [];
  }
}
