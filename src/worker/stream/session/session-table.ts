/** What a client is known by: its address, with the one that it came to where there are several, and its port. */
interface Addressed {
  readonly key: string;
  readonly port: number;
}

/** The clients that have sessions of datagrams, by their address. nginx: the rbtree of ngx_listening_t. */
export class SessionTable<C extends Addressed> {
  /** By port; where several clients have the same one, by their keys. */
  readonly #byPort = new Map<number, C | Map<string, C>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string, port: number): C | undefined {
    const found = this.#byPort.get(port);
    if (found === undefined || found instanceof Map) {
      return found?.get(key);
    }
    return found.key === key ? found : undefined;
  }

  add(client: C): void {
    const { key, port } = client;
    const found = this.#byPort.get(port);
    if (found === undefined) {
      this.#byPort.set(port, client);
    } else if (found instanceof Map) {
      found.set(key, client);
    } else {
      this.#byPort.set(port, new Map([found, client].map((each) => [each.key, each])));
    }
    this.#size++;
  }

  /** Takes a client out, unless another session stands for it by now. */
  remove(client: C): void {
    const { key, port } = client;
    const found = this.#byPort.get(port);
    if (found === client) {
      this.#byPort.delete(port);
    } else if (found instanceof Map && found.get(key) === client) {
      found.delete(key);
      if (found.size === 0) {
        this.#byPort.delete(port);
      }
    } else {
      return;
    }
    this.#size--;
  }
}
