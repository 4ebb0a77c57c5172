import type { OnDemand } from '../acme/on-demand.js';
import { currentTask } from './task.js';

/** A certificate with its chain, and its key, in PEM: what a function of `js_ssl_certificate` gives. */
export interface ScriptIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** `ngx.acme`: certificates from the issuers with `on_demand`. A handler that asks for one waits for it. */
export function scriptAcme(find: () => OnDemand | undefined): object {
  return Object.freeze({
    [Symbol.toStringTag]: 'Acme',
    /** Finds the certificate of a name, or orders it. */
    async certificate(issuer: unknown, name: unknown): Promise<ScriptIdentity> {
      const onDemand = find();
      if (onDemand === undefined) {
        throw new TypeError(`there is no acme_issuer "${String(issuer)}" with "on_demand"`);
      }
      const task = currentTask();
      return new Promise((resolve, reject) => {
        const stop = onDemand.certificate(String(issuer), String(name), (result) => {
          task?.disown(stop);
          if (result instanceof Error) {
            reject(result);
          } else {
            resolve({ certificate: result.chain, key: result.key });
          }
          // What waits for the promise runs before the task may be over.
          setImmediate(() => task?.release());
        });
        task?.hold();
        task?.own(stop);
      });
    },
  });
}
