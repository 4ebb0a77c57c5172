import { fieldOf, type LineReader } from '../logs/log-line.js';
import type { RehearsalOptions, RehearsalRequest } from '../rehearsal/rehearsal.js';

/** A request that is to be explained, and how it arrives. */
export interface AskedRequest {
  readonly request: RehearsalRequest;
  readonly options: RehearsalOptions;
}

/** What is put together from the command line before it is a request. Texts are latin1. */
export interface RequestParts {
  method?: string | undefined;
  /** A URL, `HOST/PATH`, or a path. */
  url?: string | undefined;
  headers: (readonly [string, string])[];
  body?: string | undefined;
  address?: string | undefined;
  tls?: boolean | undefined;
  version?: '1.0' | '1.1' | undefined;
}

/** The words cannot be understood. */
export class RequestError extends Error {}

/** Splits a pasted command line into words, as a shell does: quotes, backslashes, and backslashes at line ends. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quote !== '') {
      if (c === quote) {
        quote = '';
      } else if (c === '\\' && quote === '"' && /["\\$`\n]/.test(text[i + 1] ?? '')) {
        i++;
        word += text[i] === '\n' ? '' : text[i]!;
      } else {
        word += c;
      }
    } else if (c === '"' || c === "'") {
      quote = c;
      word = (word ?? '').replace(/\$$/, '');
    } else if (c === '\\') {
      i++;
      if (text[i] !== '\n' && text[i] !== '\r') {
        word = (word ?? '') + (text[i] ?? '');
      }
    } else if (/\s/.test(c)) {
      if (word !== undefined) {
        words.push(word);
      }
      word = undefined;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (quote !== '') {
    throw new RequestError(`a ${quote} is not closed`);
  }
  return word === undefined ? words : [...words, word];
}

/** curl's options that have a value and change nothing here. */
const IGNORED_WITH_VALUE: ReadonlySet<string> = new Set([
  '-o',
  '--output',
  '-m',
  '--max-time',
  '--connect-timeout',
  '--cacert',
  '--cert',
  '--key',
  '-E',
  '-w',
  '--write-out',
  '--retry',
  '-D',
  '--dump-header',
  '-c',
  '--cookie-jar',
  '--resolve',
  '--connect-to',
  '--tls-max',
  '--ciphers',
  '-x',
  '--proxy',
  '--limit-rate',
  '--interface',
]);

/** Reads the words of a curl command line, those behind `curl`. */
export function parseCurl(words: readonly string[]): RequestParts {
  const parts: RequestParts = { headers: [] };
  const data: string[] = [];
  let asQuery = false;
  let head = false;
  const form = (value: string): void => void data.push(value);
  for (let i = 0; i < words.length; i++) {
    let word = words[i]!;
    let attached: string | undefined;
    if (word.startsWith('--') && word.includes('=')) {
      [word, attached] = [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)];
    } else if (/^-[XHdAebuoFmwxE]./.test(word)) {
      [word, attached] = [word.slice(0, 2), word.slice(2)];
    }
    const value = (): string => attached ?? words[++i] ?? fail(`curl's ${word} lacks its value`);
    switch (word) {
      case '-X':
      case '--request':
        parts.method = value();
        break;
      case '-H':
      case '--header': {
        parts.headers.push(...headerOf(value()));
        break;
      }
      case '-d':
      case '--data':
      case '--data-raw':
      case '--data-ascii':
      case '--data-binary':
        form(value());
        break;
      case '--data-urlencode':
        form(
          value().replace(/^([^=]*=)?(.*)$/s, (_all, name: string | undefined, text: string) => (name ?? '') + encodeURIComponent(text)),
        );
        break;
      case '--json':
        form(value());
        parts.headers.push(['Content-Type', 'application/json'], ['Accept', 'application/json']);
        break;
      case '-A':
      case '--user-agent':
        parts.headers.push(['User-Agent', value()]);
        break;
      case '-e':
      case '--referer':
        parts.headers.push(['Referer', value()]);
        break;
      case '-b':
      case '--cookie':
        parts.headers.push(['Cookie', value()]);
        break;
      case '-u':
      case '--user':
        parts.headers.push(['Authorization', `Basic ${Buffer.from(value(), 'latin1').toString('base64')}`]);
        break;
      case '--compressed':
        parts.headers.push(['Accept-Encoding', 'deflate, gzip, br']);
        break;
      case '-G':
      case '--get':
        asQuery = true;
        break;
      case '-I':
      case '--head':
        head = true;
        break;
      case '-0':
      case '--http1.0':
        parts.version = '1.0';
        break;
      case '--url':
        parts.url = value();
        break;
      default:
        if (IGNORED_WITH_VALUE.has(word)) {
          value();
        } else if (!word.startsWith('-') || word === '-') {
          parts.url ??= word;
        }
    }
  }
  if (data.length > 0 && asQuery) {
    parts.url = `${parts.url ?? ''}${parts.url?.includes('?') ? '&' : '?'}${data.join('&')}`;
  } else if (data.length > 0) {
    parts.body = data.join('&');
    if (!parts.headers.some(([name]) => name.toLowerCase() === 'content-type')) {
      parts.headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
    }
  }
  const usual: (readonly [string, string])[] = [
    ['User-Agent', 'curl/8.0.0'],
    ['Accept', '*/*'],
  ];
  for (const [name, value] of usual) {
    if (!parts.headers.some(([each]) => each.toLowerCase() === name.toLowerCase())) {
      parts.headers.push([name, value]);
    }
  }
  parts.method ??= head ? 'HEAD' : parts.body === undefined ? 'GET' : 'POST';
  return parts;
}

function fail(message: string): never {
  throw new RequestError(message);
}

/** A header as `-H` gives it; none for one that is to be left out. */
export function headerOf(text: string): (readonly [string, string])[] {
  const colon = text.indexOf(':');
  if (colon === -1) {
    return text.endsWith(';') ? [[text.slice(0, -1), '']] : fail(`"${text}" is no header: it lacks a colon`);
  }
  const value = text.slice(colon + 1).trim();
  return value === '' ? [] : [[text.slice(0, colon).trim(), value]];
}

/** Reads the words of a request: a URL, a path, `METHOD URL`, or a request line. */
export function parseWords(words: readonly string[]): RequestParts {
  const [first = '', second, third] = words;
  if (second === undefined) {
    return first.includes(' ') ? parseWords(first.trim().split(/\s+/)) : { url: first, headers: [] };
  }
  if (!/^[A-Za-z]+$/.test(first) || words.length > 3 || (third !== undefined && !/^HTTP\/1\.[01]$/.test(third))) {
    throw new RequestError(`"${words.join(' ')}" is neither a URL nor METHOD URL`);
  }
  return { method: first, url: second, headers: [], version: third === 'HTTP/1.0' ? '1.0' : undefined };
}

/** Reads a line of an access log; `readers` are tried in their order. */
export function parseLogLine(line: string, readers: readonly LineReader[]): RequestParts {
  for (const reader of readers) {
    const read = reader(line);
    const given = (name: string): string | undefined => {
      const value = read === undefined ? undefined : unescaped(fieldOf(read, name) ?? '-');
      return value === '-' || value === '' ? undefined : value;
    };
    const request = /^(\S+) (\S+)(?: HTTP\/(1\.[01]|[23]\.0))?$/.exec(given('request') ?? '');
    const url = request?.[2] ?? given('request_uri') ?? given('uri');
    if (url === undefined) {
      continue;
    }
    const host = given('http_host') ?? given('host') ?? given('server_name');
    const header = (name: string, variable: string): (readonly [string, string])[] => {
      const value = given(variable);
      return value === undefined ? [] : [[name, value]];
    };
    return {
      method: request?.[1] ?? given('request_method'),
      url: url.startsWith('/') && given('scheme') !== undefined && host !== undefined ? `${given('scheme')}://${host}${url}` : url,
      headers: [
        ...(host === undefined ? [] : [['Host', host] as const]),
        ...header('User-Agent', 'http_user_agent'),
        ...header('Referer', 'http_referer'),
        ...header('X-Forwarded-For', 'http_x_forwarded_for'),
      ],
      address: given('remote_addr'),
      version: request?.[3] === '1.0' ? '1.0' : undefined,
    };
  }
  throw new RequestError('the line has the form of no log of this configuration');
}

/** Takes off the `\xHH` that access logs write. */
const unescaped = (text: string): string =>
  text.replace(/\\x([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Makes the request. `usualPort`: where a path without a host goes. */
export function complete(
  parts: RequestParts,
  usualPort: { readonly port: number; readonly tls: boolean; readonly host: string | undefined },
): AskedRequest {
  const { url = '/', headers, body, method, version, address } = parts;
  const match = /^(?:(https?):\/\/)?([^/?#]*)([^#]*)/i.exec(url)!;
  const scheme = match[1]?.toLowerCase();
  const authority = match[2]!.replace(/^.*@/, '');
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority) ?? fail(`"${authority}" is no host`);
  const path = match[3]!.startsWith('/') ? match[3]! : `/${match[3]}`;
  const bare = authority === '' && scheme === undefined;
  const tls = parts.tls ?? (bare ? usualPort.tls : scheme === 'https');
  const goesTo = port === undefined ? (bare ? usualPort.port : tls ? 443 : 80) : Number(port);
  const hostHeader = headers.find(([each]) => each.toLowerCase() === 'host');
  const host = bare ? usualPort.host : authority;
  return {
    request: {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      target: path,
      headers: hostHeader === undefined && host !== undefined ? [['Host', host], ...headers] : headers,
      body,
      version,
    },
    options: {
      host: /^\[/.test(name) ? name.slice(1, -1) : name === '' ? 'localhost' : name,
      port: goesTo,
      tls,
      address,
    },
  };
}
