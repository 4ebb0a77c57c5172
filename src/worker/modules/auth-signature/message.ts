import type { Request } from '../../http/request/request.js';

/** What of a request can be signed, as the client has sent it. */
export interface SignedMessage {
  readonly method: string;
  /** In small letters. */
  readonly scheme: string;
  /** Host and port as in RFC 9421, section 2.2.3: small letters, no port that the scheme has anyway. */
  readonly authority: string;
  /** Path and query as sent. */
  readonly target: string;
  /** What stands in the request line of HTTP/1, or the path of other versions. */
  readonly requestTarget: string;
  /** The values of all header lines with a name, in lower case, as they came. */
  field(name: string): readonly string[];
}

/** What the client of a request has sent, whatever redirects inside the server have made of it. */
export class ClientMessage implements SignedMessage {
  readonly #r: Request;

  constructor(r: Request) {
    this.#r = r.main;
  }

  get method(): string {
    return this.#r.head.method;
  }

  get scheme(): string {
    return this.#r.connection.tls === undefined ? 'http' : 'https';
  }

  get authority(): string {
    const { host, port } = this.#r.head;
    return port === 0 || port === (this.scheme === 'https' ? 443 : 80) ? host : `${host}:${port}`;
  }

  get target(): string {
    return this.#r.head.unparsedUri;
  }

  get requestTarget(): string {
    const { line, unparsedUri, version } = this.#r.head;
    return version < 2000 ? (line.split(' ')[1] ?? '') : unparsedUri;
  }

  field(name: string): readonly string[] {
    const { names, headers } = this.#r.head;
    const values: string[] = [];
    for (let i = names.indexOf(name); i !== -1; i = names.indexOf(name, i + 1)) {
      values.push(headers[2 * i + 1]!);
    }
    return values;
  }
}

/** The path of a target, never empty. */
export const targetPath = (target: string): string => target.replace(/\?.*/s, '') || '/';

/** What follows the path, with its question mark, which is there without a query, too. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? '?' : target.slice(mark);
}
