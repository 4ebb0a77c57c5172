/** A client's address. */
interface Addressed {
  readonly address: string;
  readonly port: number;
}

/** The clients that have sessions of datagrams, by their address. nginx: the rbtree of ngx_listening_t. */
export class SessionTable<C extends Addressed> {
  /** By port; where several clients have the same one, by address. */
  readonly #byPort = new Map<number, C | Map<string, C>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(address: string, port: number): C | undefined {
    const found = this.#byPort.get(port);
    if (found === undefined || found instanceof Map) {
      return found?.get(address);
    }
    return found.address === address ? found : undefined;
  }

  add(client: C): void {
    const { address, port } = client;
    const found = this.#byPort.get(port);
    if (found === undefined) {
      this.#byPort.set(port, client);
    } else if (found instanceof Map) {
      found.set(address, client);
    } else {
      this.#byPort.set(port, new Map([found, client].map((each) => [each.address, each])));
    }
    this.#size++;
  }

  /** Takes a client out, unless another session stands for it by now. */
  remove(client: C): void {
    const { address, port } = client;
    const found = this.#byPort.get(port);
    if (found === client) {
      this.#byPort.delete(port);
    } else if (found instanceof Map && found.get(address) === client) {
      found.delete(address);
      if (found.size === 0) {
        this.#byPort.delete(port);
      }
    } else {
      return;
    }
    this.#size--;
  }
}
