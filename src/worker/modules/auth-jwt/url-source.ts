import { ERROR } from '../../../shared/log/level.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import type { KeySet } from '../../jose/key-set.js';
import { RemoteKeySet } from '../../jwks/remote-key-set.js';
import { trustedFetch } from '../../jwks/trusted-fetch.js';
import type { Status } from '../../task/codes.js';
import { resolverSlot } from '../../task/resolver-slot.js';
import type { KeySource } from './key-source.js';
import type { KeyUrl } from './settings.js';

/** The sets of a worker, which locations share that have the same URL. */
const remotes = new WeakMap<WorkerEnv, Map<string, RemoteKeySet>>();

function remoteOf({ url, refresh, trustedCertificate, zone }: KeyUrl, env: WorkerEnv, location: LocationRuntime): RemoteKeySet {
  let known = remotes.get(env);
  if (known === undefined) {
    remotes.set(env, (known = new Map()));
  }
  const key = JSON.stringify([url, refresh, trustedCertificate]);
  let remote = known.get(key);
  if (remote === undefined) {
    const { resolver, resolverTimeout } = location.conf(resolverSlot);
    const made = new RemoteKeySet(
      url,
      refresh,
      trustedFetch(trustedCertificate, env.named, { resolver, resolverTimeout }),
      env.log,
      env.rehearsing ? undefined : env.zones.open(zone),
      trustedCertificate,
    );
    known.set(key, (remote = made));
    if (!env.rehearsing) {
      env.onClose(() => made.close());
      made.start();
    }
  }
  return remote;
}

/** Keys that sluice itself gets from a URL, before requests need them. */
export class UrlSource implements KeySource {
  readonly #remote: RemoteKeySet;
  readonly #rehearsing: boolean;

  constructor(at: KeyUrl, env: WorkerEnv, location: LocationRuntime) {
    this.#remote = remoteOf(at, env, location);
    this.#rehearsing = env.rehearsing === true;
  }

  now(r: Request): KeySet | Status | undefined {
    const { keys, asking } = this.#remote;
    return keys ?? (asking ? undefined : this.#none(r));
  }

  recent(): KeySet | undefined {
    return this.#remote.keys;
  }

  fetch(r: Request, done: (result: KeySet | Status) => void): undefined {
    this.#wait(r, () => done(this.#remote.keys ?? this.#none(r)));
  }

  renew(r: Request, done: () => void): boolean {
    if (!this.#remote.askForNewer()) {
      return false;
    }
    this.#wait(r, done);
    return true;
  }

  #wait(r: Request, then: () => void): void {
    const cancel = this.#remote.wait(() => {
      r.forget(cancel);
      then();
    });
    r.onFinish(cancel);
  }

  #none(r: Request): Status {
    r.log(ERROR, `the JSON Web Key Set "${this.#remote.url}" is not there${this.#rehearsing ? ': a rehearsal asks nobody' : ' yet'}`);
    return 500;
  }
}
