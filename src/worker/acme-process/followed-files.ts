import type { Logger } from '../../shared/log/error-log.js';
import { NOTICE, WARN } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import type { CertificatePair } from '../acme/acme-zone.js';
import { ROOT_TEXT, readRoot } from '../acme/fleet-state.js';
import { INTERNAL_PAIR, type Order } from '../acme/settings.js';
import { StateFolder } from '../acme/state-folder.js';
import type { FollowEvents } from './fleet-lead.js';

/** Keeps what other machines have got in this one's state folders, so that it is there after a restart without the store. */
export class FollowedFiles implements FollowEvents {
  readonly #orders: ReadonlyMap<string, Order>;
  readonly #log: Logger;

  /** `orders` by their ids in the zone. */
  constructor(orders: ReadonlyMap<string, Order>, log: Logger) {
    this.#orders = orders;
    this.#log = log;
  }

  readonly pair = (zoneId: string, pair: CertificatePair): void => {
    const order = this.#orders.get(zoneId);
    if (order !== undefined) {
      this.#log.log(NOTICE, `certificate of the fleet taken over, acme issuer: "${order.issuer.name}", order: "${order.id}"`);
      this.#write(order, order.id, pair);
    }
  };

  readonly kept = (name: string, text: string): void => {
    const root = name.endsWith(`/${ROOT_TEXT}`) ? readRoot(text) : undefined;
    const order = root && [...this.#orders.values()].find(({ issuer }) => `${issuer.name}/${ROOT_TEXT}` === name);
    if (root !== undefined && order !== undefined) {
      this.#write(order, INTERNAL_PAIR, root);
    }
  };

  #write({ issuer }: Order, id: string, pair: CertificatePair): void {
    if (issuer.statePath === undefined) {
      return;
    }
    try {
      new StateFolder(issuer.statePath).writePair(id, pair);
    } catch (error) {
      this.#log.log(
        WARN,
        `writing certificate to state directory failed (${errnoText(error)}), acme issuer: "${issuer.name}", order: "${id}"`,
      );
    }
  }
}
