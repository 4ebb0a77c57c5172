/** The head of a backend's response, as it is read. nginx: ngx_http_upstream_headers_in_t. */
export class UpstreamHead {
  status = 0;
  /** What follows the status code; undefined when the protocol has no status line. */
  statusText: string | undefined = undefined;
  /** Names as sent, names in lower case, values, and kinds (see `K`), all in the order of the lines. */
  readonly names: string[] = [];
  readonly lowers: string[] = [];
  readonly values: string[] = [];
  readonly kinds: number[] = [];
  /** Trailers: name as sent, name in lower case, and value by turns. */
  readonly trailers: string[] = [];
  /** -1 when none was announced. */
  contentLength = -1;
  chunked = false;
  connectionClose = false;
  /** Where the first header of a kind stands in the lists; absent kinds are undefined. */
  readonly first: (number | undefined)[] = [];

  /** Empties the head for another attempt. nginx: ngx_http_upstream_reinit. */
  reset(): void {
    this.status = 0;
    this.statusText = undefined;
    this.names.length = 0;
    this.lowers.length = 0;
    this.values.length = 0;
    this.kinds.length = 0;
    this.trailers.length = 0;
    this.contentLength = -1;
    this.chunked = false;
    this.connectionClose = false;
    this.first.length = 0;
  }

  /** The value of the first header of a kind. */
  value(kind: number): string | undefined {
    const i = this.first[kind];
    return i === undefined ? undefined : this.values[i];
  }

  /** The values of a header by its lower-case name, joined as `$upstream_http_` shows them. */
  joined(lower: string): string | undefined {
    let value: string | undefined;
    for (let i = 0; i < this.lowers.length; i++) {
      if (this.lowers[i] !== lower || this.kinds[i] === -1) continue;
      value = value === undefined ? this.values[i]! : `${value}, ${this.values[i]}`;
    }
    return value;
  }
}
