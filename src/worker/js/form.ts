import { nativeText } from '../../shared/text/native-text.js';
import { decoded } from './args-object.js';
import { givenInteger } from './text.js';

/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** What `readRequestForm` takes. */
export interface FormOptions {
  /** How many fields there may be; 128 unless told. */
  readonly maxKeys?: number;
}

const MOST_FIELDS = 128;
const HEAD_END = '\r\n\r\n';
const LONGEST_BOUNDARY = 200;
const MOST_PART_HEADERS = 32;
const LONGEST_HEADER_LINE = 4096;
const LARGEST_HEADERS = 16 * 1024;

/** The fields of a form, in their order. nginx: the form object of njs. */
export class Form {
  readonly #fields: (readonly [string, string | FormFile])[] = [];

  /** @throws TypeError when there are more than `most`. */
  add(name: string, value: string | FormFile, most: number): void {
    if (this.#fields.length >= most) {
      throw new TypeError('maxKeys limit exceeded');
    }
    this.#fields.push([name, value]);
  }

  get [Symbol.toStringTag](): string {
    return 'RequestForm';
  }

  get(name: string): string | FormFile | null {
    return this.#fields.find(([key]) => key === name)?.[1] ?? null;
  }

  getAll(name: string): (string | FormFile)[] {
    return this.#fields.filter(([key]) => key === name).map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.#fields.some(([key]) => key === name);
  }

  hasFiles(): boolean {
    return this.#fields.some(([, value]) => typeof value !== 'string');
  }

  forEach(callback: (value: string | FormFile, name: string, form: Form) => void): void {
    if (typeof callback !== 'function') {
      throw new TypeError('"callback" is not a function');
    }
    for (const [name, value] of this.#fields) {
      callback(value, name, this);
    }
  }
}

/** How many fields a form may have. @throws TypeError for options that are none. */
export function mostFields(options: FormOptions | undefined): number {
  if (options === undefined) {
    return MOST_FIELDS;
  }
  if ((typeof options !== 'object' && typeof options !== 'function') || options === null) {
    throw new TypeError('"options" must be an object');
  }
  const most = options.maxKeys === undefined ? MOST_FIELDS : givenInteger(options.maxKeys);
  if (most < 1) {
    throw new TypeError('"maxKeys" must be a positive integer');
  }
  return most;
}

/** Reads a form of either content type, of at most so many fields. @throws TypeError for what is not one. */
export function readForm(body: Buffer, contentType: string, most: number): Form {
  if (contentType === '') {
    throw new TypeError('request content type is required');
  }
  const semicolon = contentType.indexOf(';');
  const typeEnd = semicolon === -1 ? contentType.length : semicolon;
  const kind = trimmed(contentType.slice(0, typeEnd)).toLowerCase();
  if (kind !== 'application/x-www-form-urlencoded' && kind !== 'multipart/form-data') {
    throw new TypeError('unsupported content type');
  }
  const boundary = readParameters(contentType.slice(typeEnd), 'malformed content type', (name, value, before) => {
    if (name === 'boundary' && before === undefined && (value === '' || value.length > LONGEST_BOUNDARY)) {
      throw new TypeError('invalid multipart boundary');
    }
    return name === 'boundary';
  }).get('boundary');
  const form = new Form();
  if (kind === 'application/x-www-form-urlencoded') {
    readUrlEncoded(body.toString('latin1'), form, most);
  } else if (boundary === undefined) {
    throw new TypeError('multipart boundary is required');
  } else {
    readMultipart(body.toString('latin1'), boundary, form, most);
  }
  return form;
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** A text without spaces and tabs around it. An expression would look at each space of a long row again and again. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) {
    start++;
  }
  while (end > start && isBlank(text.charCodeAt(end - 1))) {
    end--;
  }
  return text.slice(start, end);
}

/**
 * Reads what follows `multipart/form-data` or the like: `; boundary=x`. `trailing`: what is said of anything else. `wanted`: looks at a
 * parameter, with its value before, and says whether it counts; one that does stands there once.
 */
function readParameters(
  text: string,
  trailing: string,
  wanted: (name: string, value: string, before: string | undefined) => boolean,
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let left = text;
  while (left !== '') {
    if (!left.startsWith(';')) {
      throw new TypeError(trailing);
    }
    const name = /^;[ \t]*([^=; \t]+)[ \t]*=[ \t]*/.exec(left);
    if (name === null) {
      throw new TypeError('malformed parameter');
    }
    left = left.slice(name[0].length);
    const quoted = left.startsWith('"');
    const value = (quoted ? /^"((?:[^"\\]|\\.)*)"[ \t]*/s : /^([^; \t]+)[ \t]*/s).exec(left);
    if (value === null) {
      throw new TypeError(quoted ? 'unterminated quoted parameter' : 'empty parameter value');
    }
    left = left.slice(value[0].length);
    const lower = name[1]!.toLowerCase();
    const given = quoted ? value[1]!.replace(/\\(.)/gs, '$1') : value[1]!;
    const before = parameters.get(lower);
    if (wanted(lower, given, before)) {
      if (before !== undefined) {
        throw new TypeError(`duplicate ${lower} parameter`);
      }
      parameters.set(lower, given);
    }
  }
  return parameters;
}

function readUrlEncoded(text: string, form: Form, most: number): void {
  for (const part of text.split('&')) {
    if (part === '') {
      continue;
    }
    if (/%(?![0-9A-Fa-f]{2})/.test(part)) {
      throw new TypeError('malformed percent escape');
    }
    const equals = part.indexOf('=');
    form.add(decoded(equals === -1 ? part : part.slice(0, equals)), equals === -1 ? '' : decoded(part.slice(equals + 1)), most);
  }
}

// nginx: ngx_js_form_parse_multipart.
function readMultipart(text: string, boundary: string, form: Form, most: number): void {
  const mark = `--${boundary}`;
  const first = text.indexOf(mark);
  if (first === -1) {
    throw new TypeError('malformed multipart body');
  }
  let at = first + mark.length;
  for (;;) {
    if (text.startsWith('--', at)) {
      return;
    }
    if (!text.startsWith('\r\n', at)) {
      throw new TypeError('malformed multipart boundary');
    }
    at += 2;
    const end = text.indexOf(HEAD_END, at);
    if (end === -1) {
      throw new TypeError('missing multipart header separator');
    }
    const part = readHead(text.slice(at, end));
    const close = text.indexOf(`\r\n${mark}`, end + HEAD_END.length);
    if (close === -1) {
      throw new TypeError('truncated multipart body');
    }
    const value = text.slice(end + HEAD_END.length, close);
    form.add(part.name, part.file === undefined ? nativeText(value) : fileOf(part.file, part.type, Buffer.from(value, 'latin1')), most);
    at = close + 2 + mark.length;
  }
}

/** What stands above the value of a field: its name, and of a file its name and type. */
interface PartHead {
  readonly name: string;
  readonly file: string | undefined;
  readonly type: string;
}

// nginx: ngx_js_form_parse_part_headers.
function readHead(head: string): PartHead {
  if (head.length > LARGEST_HEADERS) {
    throw new TypeError('multipart headers are too large');
  }
  let disposition: Omit<PartHead, 'type'> | undefined;
  let type = 'text/plain';
  for (const [i, line] of head === '' ? [] : head.split('\r\n').entries()) {
    if (line.length > LONGEST_HEADER_LINE) {
      throw new TypeError('multipart header line is too long');
    }
    if (i === MOST_PART_HEADERS) {
      throw new TypeError('too many multipart headers');
    }
    const colon = line.indexOf(':');
    if (colon === -1) {
      throw new TypeError('malformed multipart header');
    }
    const name = line.slice(0, colon).toLowerCase();
    const value = trimmed(line.slice(colon + 1));
    if (name === 'content-disposition') {
      if (disposition !== undefined) {
        throw new TypeError('duplicate Content-Disposition header');
      }
      disposition = readDisposition(value);
    } else if (name === 'content-type') {
      type = value;
    }
  }
  if (disposition === undefined) {
    throw new TypeError('missing Content-Disposition header');
  }
  return { ...disposition, type };
}

// nginx: ngx_js_form_parse_disposition.
function readDisposition(value: string): Omit<PartHead, 'type'> {
  const form = /^form-data(?=;|$)/i.exec(value);
  if (form === null) {
    throw new TypeError('unsupported disposition type');
  }
  const wanted = (name: string): boolean => name === 'name' || name === 'filename';
  const parameters = readParameters(value.slice(form[0].length), 'malformed Content-Disposition', wanted);
  const name = parameters.get('name');
  if (name === undefined) {
    throw new TypeError('multipart field name is required');
  }
  const file = parameters.get('filename');
  return { name: nativeText(name), file: file === undefined ? undefined : nativeText(file) };
}

/** A file, of which njs has the name alone. */
const fileOf = (name: string, type: string, bytes: Buffer): FormFile =>
  Object.defineProperties({ name } as FormFile, {
    type: { value: type },
    size: { value: bytes.length },
    text: { value: async () => bytes.toString('utf8') },
    arrayBuffer: { value: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer },
  });
