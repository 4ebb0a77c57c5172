/** One response header in a list. An empty name marks a header that a filter removed. */
export class HeaderOut {
  name: string;
  value: string;
  /** One of {@link FIELD}, or {@link NO_FIELD}. */
  readonly field: number;
  constructor(name: string, value: string, field: number) {
    this.name = name;
    this.value = value;
    this.field = field;
  }
}

/** The headers of the list that {@link HeadersOut} has a property for: each has a bit. */
const FIELD = {
  lastModifiedText: 1,
  etag: 1 << 1,
  location: 1 << 2,
  server: 1 << 3,
  date: 1 << 4,
  contentEncoding: 1 << 5,
  acceptRanges: 1 << 6,
  contentRange: 1 << 7,
  wwwAuthenticate: 1 << 8,
  proxyAuthenticate: 1 << 9,
  expires: 1 << 10,
  refresh: 1 << 11,
} as const;
const NO_FIELD = 0;
const NO_TRAILERS: readonly string[] = [];

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
  | 'proxyAuthenticate'
  | 'expires'
  | 'refresh';

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
  /** The nameless header at whose place the length is sent, where a script has put it there. nginx: content_length. */
  lengthPlace: HeaderOut | null = null;
  /** Bytes before a range was cut out, for Content-Range; -1 until known. */
  contentOffset = 0;
  /** Seconds since the epoch, -1 when there is none. */
  lastModified = -1;
  /** The time of the last change as an HTTP date, where somebody has it at hand. */
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
  /** The bits of those in the list that have a property. Most are asked for and not there. */
  #fields = 0;
  #trailers: string[] | null = null;

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

  /** Has the length stand behind the headers that are in the list by now; once it has a place, that stays. */
  placeLength(): void {
    this.lengthPlace ??= this.list[this.list.push(new HeaderOut('', '', NO_FIELD)) - 1]!;
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
    return this.#get(FIELD.lastModifiedText);
  }

  set lastModifiedText(value: string | undefined) {
    this.#put(FIELD.lastModifiedText, 'Last-Modified', value);
  }

  get etag(): string | undefined {
    return this.#get(FIELD.etag);
  }

  set etag(value: string | undefined) {
    this.#put(FIELD.etag, 'ETag', value);
  }

  get location(): string | undefined {
    return this.#get(FIELD.location);
  }

  set location(value: string | undefined) {
    this.#put(FIELD.location, 'Location', value);
  }

  /** The header of {@link location}; undefined for none. */
  get locationHeader(): HeaderOut | undefined {
    const header = this.#find(FIELD.location);
    return header === undefined || header.name === '' ? undefined : header;
  }

  get server(): string | undefined {
    return this.#get(FIELD.server);
  }

  set server(value: string | undefined) {
    this.#put(FIELD.server, 'Server', value);
  }

  get date(): string | undefined {
    return this.#get(FIELD.date);
  }

  set date(value: string | undefined) {
    this.#put(FIELD.date, 'Date', value);
  }

  /** How the body is encoded; an empty header, as backends send, says that it is not. */
  get contentEncoding(): string | undefined {
    const value = this.#get(FIELD.contentEncoding);
    return value === '' ? undefined : value;
  }

  set contentEncoding(value: string | undefined) {
    this.#put(FIELD.contentEncoding, 'Content-Encoding', value);
  }

  get acceptRanges(): string | undefined {
    return this.#get(FIELD.acceptRanges);
  }

  set acceptRanges(value: string | undefined) {
    this.#put(FIELD.acceptRanges, 'Accept-Ranges', value);
  }

  get contentRange(): string | undefined {
    return this.#get(FIELD.contentRange);
  }

  set contentRange(value: string | undefined) {
    this.#put(FIELD.contentRange, 'Content-Range', value);
  }

  get wwwAuthenticate(): string | undefined {
    return this.#get(FIELD.wwwAuthenticate);
  }

  set wwwAuthenticate(value: string | undefined) {
    this.#put(FIELD.wwwAuthenticate, 'WWW-Authenticate', value);
  }

  get proxyAuthenticate(): string | undefined {
    return this.#get(FIELD.proxyAuthenticate);
  }

  set proxyAuthenticate(value: string | undefined) {
    this.#put(FIELD.proxyAuthenticate, 'Proxy-Authenticate', value);
  }

  get expires(): string | undefined {
    return this.#get(FIELD.expires);
  }

  set expires(value: string | undefined) {
    this.#put(FIELD.expires, 'Expires', value);
  }

  get refresh(): string | undefined {
    return this.#get(FIELD.refresh);
  }

  set refresh(value: string | undefined) {
    this.#put(FIELD.refresh, 'Refresh', value);
  }

  /** Of several with one field, as challenges are, the latest counts. */
  #find(field: number): HeaderOut | undefined {
    if ((this.#fields & field) === 0) {
      return undefined;
    }
    for (let i = this.list.length - 1; i >= 0; i--) {
      const header = this.list[i]!;
      if (header.field === field) {
        return header;
      }
    }
    return undefined;
  }

  #get(field: number): string | undefined {
    const header = this.#find(field);
    return header === undefined || header.name === '' ? undefined : header.value;
  }

  #put(field: number, name: string, value: string | undefined): void {
    const header = this.#find(field);
    if (value === undefined) {
      if (header !== undefined) {
        header.name = '';
        this.#fields &= ~field;
      }
    } else if (header === undefined || header.name === '') {
      this.#add(field, name, value);
    } else {
      header.value = value;
    }
  }

  #add(field: number, name: string, value: string): void {
    this.list.push(new HeaderOut(name, value, field));
    this.#fields |= field;
  }

  /** Takes over a header with a field of its own under the name that an upstream wrote. */
  adopt(field: AdoptedField, name: string, value: string): void {
    this.#add(FIELD[field], name, value);
  }

  /** Puts a header with a field of its own in the place of the one that is there, or behind all others. */
  replace(field: AdoptedField, name: string, value: string): void {
    const header = this.#find(FIELD[field]);
    if (header === undefined || header.name === '') {
      this.#add(FIELD[field], name, value);
    } else {
      header.name = name;
      header.value = value;
    }
  }

  /** Adds a header to the list. */
  add(name: string, value: string): HeaderOut {
    const header = new HeaderOut(name, value, NO_FIELD);
    this.list.push(header);
    return header;
  }

  /** Trailers, name and value by turns. */
  get trailers(): readonly string[] {
    return this.#trailers ?? NO_TRAILERS;
  }

  addTrailer(name: string, value: string): void {
    this.#trailers ??= [];
    this.#trailers.push(name, value);
  }

  /** Forgets everything, for an answer of another kind in place of this one. nginx: ngx_http_clean_header. */
  clear(): void {
    this.status = 0;
    this.statusText = undefined;
    this.contentType = '';
    this.charset = '';
    this.contentLength = -1;
    this.contentOffset = 0;
    this.lastModified = -1;
    this.lastModifiedDate = undefined;
    this.allowRanges = false;
    this.omitServer = false;
    this.omitDate = false;
    this.overrideCharset = undefined;
    this.list.length = 0;
    this.lengthPlace = null;
    this.#trailers = null;
    this.#fields = 0;
  }

  /** Takes off the length, as filters do that change it. nginx: ngx_http_clear_content_length. */
  clearContentLength(): void {
    this.contentLength = -1;
  }

  /** Forgets the modification time; what an upstream said of it is still sent. */
  ignoreLastModified(): void {
    this.lastModified = -1;
    this.lastModifiedDate = undefined;
    this.#fields &= ~FIELD.lastModifiedText;
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
    if ((this.#fields & FIELD.wwwAuthenticate) === 0) {
      return;
    }
    this.#fields &= ~FIELD.wwwAuthenticate;
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

  /** Takes off what said which body it is, for filters that make another one of it; with `keep`, it stays as a weak validator. */
  bodyChanges(keep: boolean): void {
    if (keep) {
      this.weakenEtag();
    } else {
      this.clearLastModified();
      this.etag = undefined;
    }
  }

  /** Makes a strong validator weak, for filters that change the bytes. nginx: ngx_http_weak_etag. */
  weakenEtag(): void {
    if (this.etag === undefined || this.etag.startsWith('W/')) {
      return;
    }
    this.etag = this.etag.startsWith('"') ? 'W/' + this.etag : undefined;
  }
}
