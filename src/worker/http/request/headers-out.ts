/** One response header in a list. An empty name marks a header that a filter removed. */
export class HeaderOut {
  name: string;
  value: string;
  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
  }
}

/** The headers of {@link HeadersOut.adopt}. */
export type AdoptedField =
  | 'lastModifiedText'
  | 'etag'
  | 'location'
  | 'server'
  | 'date'
  | 'contentEncoding'
  | 'acceptRanges'
  | 'contentRange'
  | 'wwwAuthenticate'
  | 'expires'
  | 'refresh';

const textOf = (header: HeaderOut | undefined): string | undefined =>
  header === undefined || header.name === '' ? undefined : header.value;

const isChallenge = ({ name }: HeaderOut): boolean => name.length === 16 && name.toLowerCase() === 'www-authenticate';

/**
 * The response head while filters work on it. Well-known headers have fields; all others stand in `list`. nginx:
 * ngx_http_headers_out_t.
 */
export class HeadersOut {
  status = 0;
  /** Reason text that replaces the usual one; without the code. */
  statusText: string | undefined = undefined;
  /** `type/subtype`, without parameters. */
  contentType = '';
  /** Appended to the content type as `; charset=`. */
  charset = '';
  /** Bytes of the body, -1 when it is not known yet. */
  contentLength = -1;
  /** Bytes before a range was cut out, for Content-Range; -1 until known. */
  contentOffset = 0;
  /** Seconds since the epoch, -1 when there is none. */
  lastModified = -1;
  /** The same as an HTTP date, where somebody has it at hand. */
  lastModifiedDate: string | undefined = undefined;
  /** An upstream left these two out and the location passes its own on: then none is sent. */
  omitServer = false;
  omitDate = false;
  /** The charset that `X-Accel-Charset` asks for, in place of the location's. */
  overrideCharset: string | undefined = undefined;
  /** The content handler says that ranges may be cut out of the body. nginx: r->allow_ranges. */
  allowRanges = false;
  /** All other headers, in the order they were added. Those with a field of their own are in it too, once set. */
  readonly list: HeaderOut[] = [];
  /** The content type as an upstream sent it, with the two parts that were read from it. */
  #typeText = '';
  #typeRead = '';
  #charsetRead = '';
  #lastModifiedText: HeaderOut | undefined = undefined;
  #etag: HeaderOut | undefined = undefined;
  #location: HeaderOut | undefined = undefined;
  #server: HeaderOut | undefined = undefined;
  #date: HeaderOut | undefined = undefined;
  #contentEncoding: HeaderOut | undefined = undefined;
  #acceptRanges: HeaderOut | undefined = undefined;
  #contentRange: HeaderOut | undefined = undefined;
  #wwwAuthenticate: HeaderOut | undefined = undefined;
  #proxyAuthenticate: HeaderOut | undefined = undefined;
  #expires: HeaderOut | undefined = undefined;
  #refresh: HeaderOut | undefined = undefined;
  /** Trailers, name and value by turns. */
  readonly trailers: string[] = [];

  /**
   * Takes an upstream's content type apart; it is sent as it came unless a filter changes a part. nginx:
   * ngx_http_upstream_copy_content_type.
   */
  readContentType(text: string): void {
    this.contentType = text;
    this.charset = '';
    for (let i = text.indexOf(';'); i !== -1; i = text.indexOf(';', i + 1)) {
      let at = i + 1;
      while (text.charCodeAt(at) === 32) {
        at++;
      }
      if (text.slice(at, at + 8).toLowerCase() !== 'charset=') {
        continue;
      }
      at += 8;
      if (text.charCodeAt(at) === 34) {
        at++;
      }
      const end = text.length > at && text.charCodeAt(text.length - 1) === 34 ? text.length - 1 : text.length;
      this.contentType = text.slice(0, i);
      this.charset = text.slice(at, end);
      break;
    }
    this.#typeText = text;
    this.#typeRead = this.contentType;
    this.#charsetRead = this.charset;
  }

  /** The value of the Content-Type header; empty for none. */
  get contentTypeLine(): string {
    const type = this.contentType;
    if (type === '') {
      return '';
    }
    const charset = this.charset;
    if (charset === '') {
      return type;
    }
    return type === this.#typeRead && charset === this.#charsetRead ? this.#typeText : `${type}; charset=${charset}`;
  }

  /** The Last-Modified text of an upstream, sent as it came. */
  get lastModifiedText(): string | undefined {
    return textOf(this.#lastModifiedText);
  }

  set lastModifiedText(value: string | undefined) {
    this.#lastModifiedText = this.#put(this.#lastModifiedText, 'Last-Modified', value);
  }

  get etag(): string | undefined {
    return textOf(this.#etag);
  }

  set etag(value: string | undefined) {
    this.#etag = this.#put(this.#etag, 'ETag', value);
  }

  get location(): string | undefined {
    return textOf(this.#location);
  }

  set location(value: string | undefined) {
    this.#location = this.#put(this.#location, 'Location', value);
  }

  get server(): string | undefined {
    return textOf(this.#server);
  }

  set server(value: string | undefined) {
    this.#server = this.#put(this.#server, 'Server', value);
  }

  get date(): string | undefined {
    return textOf(this.#date);
  }

  set date(value: string | undefined) {
    this.#date = this.#put(this.#date, 'Date', value);
  }

  get contentEncoding(): string | undefined {
    return textOf(this.#contentEncoding);
  }

  set contentEncoding(value: string | undefined) {
    this.#contentEncoding = this.#put(this.#contentEncoding, 'Content-Encoding', value);
  }

  get acceptRanges(): string | undefined {
    return textOf(this.#acceptRanges);
  }

  set acceptRanges(value: string | undefined) {
    this.#acceptRanges = this.#put(this.#acceptRanges, 'Accept-Ranges', value);
  }

  get contentRange(): string | undefined {
    return textOf(this.#contentRange);
  }

  set contentRange(value: string | undefined) {
    this.#contentRange = this.#put(this.#contentRange, 'Content-Range', value);
  }

  get wwwAuthenticate(): string | undefined {
    return textOf(this.#wwwAuthenticate);
  }

  set wwwAuthenticate(value: string | undefined) {
    this.#wwwAuthenticate = this.#put(this.#wwwAuthenticate, 'WWW-Authenticate', value);
  }

  get proxyAuthenticate(): string | undefined {
    return textOf(this.#proxyAuthenticate);
  }

  set proxyAuthenticate(value: string | undefined) {
    this.#proxyAuthenticate = this.#put(this.#proxyAuthenticate, 'Proxy-Authenticate', value);
  }

  get expires(): string | undefined {
    return textOf(this.#expires);
  }

  set expires(value: string | undefined) {
    this.#expires = this.#put(this.#expires, 'Expires', value);
  }

  get refresh(): string | undefined {
    return textOf(this.#refresh);
  }

  set refresh(value: string | undefined) {
    this.#refresh = this.#put(this.#refresh, 'Refresh', value);
  }

  #put(header: HeaderOut | undefined, name: string, value: string | undefined): HeaderOut | undefined {
    if (value === undefined) {
      if (header !== undefined) {
        header.name = '';
      }
      return undefined;
    }
    if (header === undefined || header.name === '') {
      return this.add(name, value);
    }
    header.value = value;
    return header;
  }

  /** Takes over a header with a field of its own under the name that an upstream wrote. */
  adopt(field: AdoptedField, name: string, value: string): void {
    const header = this.add(name, value);
    switch (field) {
      case 'lastModifiedText':
        this.#lastModifiedText = header;
        break;
      case 'etag':
        this.#etag = header;
        break;
      case 'location':
        this.#location = header;
        break;
      case 'server':
        this.#server = header;
        break;
      case 'date':
        this.#date = header;
        break;
      case 'contentEncoding':
        this.#contentEncoding = header;
        break;
      case 'acceptRanges':
        this.#acceptRanges = header;
        break;
      case 'contentRange':
        this.#contentRange = header;
        break;
      case 'wwwAuthenticate':
        this.#wwwAuthenticate = header;
        break;
      case 'expires':
        this.#expires = header;
        break;
      case 'refresh':
        this.#refresh = header;
        break;
    }
  }

  /** Adds a header to the list. */
  add(name: string, value: string): HeaderOut {
    const header = new HeaderOut(name, value);
    this.list.push(header);
    return header;
  }

  /** Forgets everything, for an answer of another kind in place of this one. nginx: ngx_http_clean_header. */
  clear(): void {
    this.status = 0;
    this.statusText = undefined;
    this.contentType = '';
    this.charset = '';
    this.contentLength = -1;
    this.contentOffset = 0;
    this.clearLastModified();
    this.allowRanges = false;
    this.omitServer = false;
    this.omitDate = false;
    this.overrideCharset = undefined;
    this.list.length = 0;
    this.trailers.length = 0;
    this.#etag = undefined;
    this.#location = undefined;
    this.#server = undefined;
    this.#date = undefined;
    this.#contentEncoding = undefined;
    this.#acceptRanges = undefined;
    this.#contentRange = undefined;
    this.#wwwAuthenticate = undefined;
    this.#proxyAuthenticate = undefined;
    this.#expires = undefined;
    this.#refresh = undefined;
  }

  /** Takes off the length, as filters do that change it. nginx: ngx_http_clear_content_length. */
  clearContentLength(): void {
    this.contentLength = -1;
  }

  /** Forgets the modification time; what an upstream said of it is still sent. */
  ignoreLastModified(): void {
    this.lastModified = -1;
    this.lastModifiedDate = undefined;
    this.#lastModifiedText = undefined;
  }

  /** Takes off the modification time. nginx: ngx_http_clear_last_modified. */
  clearLastModified(): void {
    this.lastModified = -1;
    this.lastModifiedDate = undefined;
    this.lastModifiedText = undefined;
  }

  /** Says that ranges of the body cannot be asked for. nginx: ngx_http_clear_accept_ranges. */
  clearAcceptRanges(): void {
    this.acceptRanges = undefined;
    this.allowRanges = false;
  }

  /** Takes off what asks for credentials, however many fields it is. */
  clearChallenges(): void {
    this.proxyAuthenticate = undefined;
    if (this.#wwwAuthenticate === undefined) {
      return;
    }
    this.#wwwAuthenticate = undefined;
    for (const header of this.list) {
      if (isChallenge(header)) {
        header.name = '';
      }
    }
  }

  /** Asks for the credentials that another response asks for. Returns false if it asks for none. */
  takeChallenges(from: HeadersOut): boolean {
    let found = false;
    for (const header of from.list) {
      if (!isChallenge(header)) {
        continue;
      }
      this.adopt('wwwAuthenticate', header.name, header.value);
      found = true;
    }
    return found;
  }

  /** Makes a strong validator weak, for filters that change the bytes. nginx: ngx_http_weak_etag. */
  weakenEtag(): void {
    if (this.etag === undefined || this.etag.startsWith('W/')) {
      return;
    }
    this.etag = this.etag.startsWith('"') ? 'W/' + this.etag : undefined;
  }
}
