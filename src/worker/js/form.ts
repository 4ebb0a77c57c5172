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
  const { type, parameters } = parseType(contentType);
  const form = new Form();
  if (type === 'application/x-www-form-urlencoded') {
    readUrlEncoded(body.toString('latin1'), form, most);
  } else if (type === 'multipart/form-data') {
    const boundary = parameters.get('boundary');
    if (boundary === undefined) {
      throw new TypeError('multipart boundary is required');
    }
    if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)) {
      throw new TypeError('invalid multipart boundary');
    }
    readMultipart(body.toString('latin1'), boundary, form, most);
  } else {
    throw new TypeError('unsupported content type');
  }
  return form;
}

/** Takes a header such as `multipart/form-data; boundary=x` apart. `trailing`: what is said of anything else. */
function parseType(
  header: string,
  trailing = 'malformed parameter',
): { readonly type: string; readonly parameters: ReadonlyMap<string, string> } {
  const parameters = new Map<string, string>();
  const [, type = '', rest = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(header)!;
  let left = rest;
  while (left !== '') {
    const start = /^;[ \t]*/.exec(left);
    if (start === null) {
      throw new TypeError(trailing);
    }
    left = left.slice(start[0].length);
    const name = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=/.exec(left);
    if (name === null) {
      throw new TypeError('malformed parameter');
    }
    left = left.slice(name[0].length);
    const quoted = left.startsWith('"');
    const value = (quoted ? /^"((?:[^"\\]|\\.)*)"[ \t]*/s : /^([^\s;"]+)[ \t]*/s).exec(left);
    if (value === null) {
      throw new TypeError(quoted ? 'unterminated quoted parameter' : 'empty parameter value');
    }
    left = left.slice(value[0].length);
    const lower = name[1]!.toLowerCase();
    if (parameters.has(lower)) {
      throw new TypeError(`duplicate ${lower} parameter`);
    }
    parameters.set(lower, quoted ? value[1]!.replace(/\\(.)/gs, '$1') : value[1]!);
  }
  return { type: type.toLowerCase(), parameters };
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
    const end = text.indexOf('\r\n\r\n', at);
    if (end === -1) {
      throw new TypeError('missing multipart header separator');
    }
    const close = text.indexOf(`\r\n${mark}`, end + 2);
    if (close === -1) {
      throw new TypeError('truncated multipart body');
    }
    addPart(text.slice(at, end), text.slice(end + 4, close), form, most);
    at = close + 2 + mark.length;
  }
}

function addPart(head: string, value: string, form: Form, most: number): void {
  if (head.length > LARGEST_HEADERS) {
    throw new TypeError('multipart headers are too large');
  }
  const lines = head.split('\r\n');
  if (lines.length > MOST_PART_HEADERS) {
    throw new TypeError('too many multipart headers');
  }
  let disposition: string | undefined;
  let type = 'text/plain';
  for (const line of lines) {
    if (line.length > LONGEST_HEADER_LINE) {
      throw new TypeError('multipart header line is too long');
    }
    const colon = line.indexOf(':');
    if (colon < 1) {
      throw new TypeError('malformed multipart header');
    }
    const name = line.slice(0, colon).toLowerCase();
    if (name === 'content-disposition') {
      if (disposition !== undefined) {
        throw new TypeError('duplicate Content-Disposition header');
      }
      disposition = line.slice(colon + 1).trim();
    } else if (name === 'content-type') {
      type = line.slice(colon + 1).trim();
    }
  }
  if (disposition === undefined) {
    throw new TypeError('missing Content-Disposition header');
  }
  if (!/^form-data(?:;|$)/i.test(disposition)) {
    throw new TypeError('unsupported disposition type');
  }
  const { parameters } = parseType(disposition, 'malformed Content-Disposition');
  const name = parameters.get('name');
  if (name === undefined) {
    throw new TypeError('multipart field name is required');
  }
  const file = parameters.get('filename');
  form.add(nativeText(name), file === undefined ? nativeText(value) : fileOf(nativeText(file), type, Buffer.from(value, 'latin1')), most);
}

/** A file, of which njs has the name alone. */
const fileOf = (name: string, type: string, bytes: Buffer): FormFile =>
  Object.defineProperties({ name } as FormFile, {
    type: { value: type },
    size: { value: bytes.length },
    text: { value: async () => bytes.toString('utf8') },
    arrayBuffer: { value: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer },
  });
