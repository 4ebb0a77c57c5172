import type { LookupFunction } from 'node:net';
import { INFO, type Level, NOTICE, WARN } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import type { AcmeZone, CertificatePair } from '../acme/acme-zone.js';
import { generateKey } from '../acme/key-kind.js';
import type { AcmeIssuer, Order } from '../acme/settings.js';
import type { StateStore } from '../acme/state-folder.js';
import { type Authority, NoAccount } from './authority.js';
import { CaClient, type Directory, type RenewalInfo } from './client.js';
import { type Means, obtain, pendingName } from './obtain.js';
import { Pace } from './pace.js';
import { AcmeProblem, caWords } from './problem.js';
import { type OtherMachines, solverOf } from './solver.js';

const ACCOUNT_KEY = 'account.key';
const ACCOUNT_URL = 'account.url';

/** The client with what was found out about the CA. */
interface Session {
  readonly means: Means;
  /** Where the CA tells when it wants certificates renewed; undefined when it does not. */
  readonly renewalInfo: string | undefined;
}

/** A CA that speaks ACME, and our account there. nginx-acme: AcmeClient. */
export class AcmeAuthority implements Authority {
  readonly foreign = true;
  readonly #issuer: AcmeIssuer;
  readonly #zone: AcmeZone;
  readonly #state: StateStore;
  readonly #lookup: LookupFunction | undefined;
  readonly #others: OtherMachines | undefined;
  readonly #say: (level: Level, message: string) => void;
  readonly #pace = new Pace();
  #client: CaClient | undefined = undefined;
  #session: Promise<Session> | undefined = undefined;

  /** `lookup` finds the CA's addresses; undefined: the system does. `others`: see {@link solverOf}. */
  constructor(
    issuer: AcmeIssuer,
    zone: AcmeZone,
    state: StateStore,
    lookup: LookupFunction | undefined,
    others: OtherMachines | undefined,
    say: (level: Level, message: string) => void,
  ) {
    this.#issuer = issuer;
    this.#zone = zone;
    this.#state = state;
    this.#lookup = lookup;
    this.#others = others;
    this.#say = say;
  }

  async certificate(order: Order, replaces: string | undefined): Promise<CertificatePair> {
    const { means, renewalInfo } = await this.#open();
    return obtain(order, renewalInfo === undefined ? undefined : replaces, means);
  }

  stored(order: Order): void {
    this.#state.remove(pendingName(order));
  }

  async renewalInfo(id: string): Promise<RenewalInfo | undefined> {
    const { means, renewalInfo } = await this.#open();
    return renewalInfo === undefined ? undefined : means.client.renewalInfo(renewalInfo, id);
  }

  /** What comes next begins anew: a CA may change, or lose an account. */
  rest(): void {
    this.#session = undefined;
    this.#client?.close();
  }

  stop(): void {
    this.#pace.stop();
    this.#client?.close();
  }

  /** The CA's directory and the account, once for all that is under way. */
  #open(): Promise<Session> {
    this.#session ??= this.#login().catch((error: Error) => {
      throw new NoAccount(error);
    });
    return this.#session;
  }

  async #login(): Promise<Session> {
    const issuer = this.#issuer;
    const client = new CaClient(issuer, await this.#accountKey(), this.#lookup);
    this.#client = client;
    const { meta = {}, renewalInfo } = await directoryOf(client);
    if (meta.externalAccountRequired === true && issuer.externalAccount === undefined) {
      throw new AcmeProblem(403, 'externalAccountRequired', 'external account key required', undefined);
    }
    if (!issuer.acceptTerms && meta.termsOfService !== undefined) {
      this.#say(NOTICE, `the terms of service are at ${caWords(meta.termsOfService)}, "accept_terms_of_service" agrees to them`);
    }
    const account = await client.register();
    if (account.created) {
      this.#say(INFO, `account "${caWords(account.url)}" created`);
    }
    if (account.url !== this.#state.read(ACCOUNT_URL)) {
      this.#store(ACCOUNT_URL, account.url);
    }
    const means: Means = {
      issuer,
      client,
      state: this.#state,
      solve: solverOf(issuer, this.#zone, this.#others),
      pace: this.#pace,
      store: (name, text) => this.#store(name, text),
      profile: this.#profile(meta.profiles),
    };
    return { means, renewalInfo };
  }

  async #accountKey(): Promise<string> {
    const { accountKey } = this.#issuer;
    if (typeof accountKey === 'string') {
      return accountKey;
    }
    const stored = this.#state.read(ACCOUNT_KEY);
    if (stored?.includes('PRIVATE KEY')) {
      return stored;
    }
    const made = await generateKey(accountKey);
    this.#store(ACCOUNT_KEY, made);
    return made;
  }

  #profile(profiles: Readonly<Record<string, string>> = {}): string | undefined {
    const { profile } = this.#issuer;
    if (profile === undefined || profile.required || profiles[profile.name] !== undefined) {
      return profile?.name;
    }
    this.#say(NOTICE, `acme profile "${profile.name}" is not supported by the server`);
    return undefined;
  }

  /** Without its state the work goes on, until the process ends. */
  #store(name: string, text: string): void {
    try {
      this.#state.write(name, text);
    } catch (error) {
      this.#say(WARN, `writing "${name}" to state directory failed (${errnoText(error)})`);
    }
  }
}

async function directoryOf(client: CaClient): Promise<Directory> {
  try {
    return await client.directory();
  } catch (error) {
    (error as Error).message = `directory update failed (${(error as Error).message})`;
    throw error;
  }
}
