import type { FetchHeaders } from './fetch-headers.js';

/**
 * What a Request and a Response of njs's have in common: the body, which scripts read once. Its members are the two prototypes' own,
 * as njs has them: see {@link haveOwnMembers}.
 */
export abstract class FetchBody {
  /** What is sent or came, whether or not somebody has read it. */
  readonly #bytes: Buffer;
  #used: boolean;

  constructor(bytes: Buffer, used = false) {
    this.#bytes = bytes;
    this.#used = used;
  }

  abstract readonly headers: FetchHeaders;

  #take(): Buffer {
    if (this.#used) {
      throw new TypeError('body stream already read');
    }
    this.#used = true;
    return this.#bytes;
  }

  get #type(): string {
    return this.headers.get('content-type') ?? '';
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async text(): Promise<string> {
    return this.#take().toString('utf8');
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.#take().toString('utf8')) as unknown;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(this.#take()).buffer;
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(this.#take());
  }

  async blob(): Promise<Blob> {
    return new Blob([this.#take()], { type: this.#type });
  }

  async formData(): ReturnType<Response['formData']> {
    return new Response(this.#take(), { headers: { 'Content-Type': this.#type } }).formData();
  }
}

/** Gives the prototype of a kind of {@link FetchBody} the members of that, and makes it a plain object's heir. */
export function haveOwnMembers({ prototype }: { readonly prototype: FetchBody }): void {
  const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(FetchBody.prototype);
  Object.defineProperties(prototype, members);
  Object.setPrototypeOf(prototype, Object.prototype);
}
