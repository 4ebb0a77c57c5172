import type { Library } from '../../../shared/native/native.js';

/** ERR_TXT_STRING: an error has a text of its own. */
const HAS_TEXT = 2;
/** Bytes of an error's text, at most. */
const TEXT = 1024;

/** Binds OpenSSL's queue of errors: takes all that went wrong, as OpenSSL writes it; empty if nothing did. nginx: ngx_ssl_error. */
export function bindErrorQueue({ find }: Library): () => string {
  const peek = find('unsigned long ERR_peek_error_data(void *, void *)');
  const next = find('unsigned long ERR_get_error()');
  const describe = find('void ERR_error_string_n(unsigned long, void *, size_t)');
  const copyText = find('intptr_t strncpy(void *, intptr_t, size_t)');
  const text = Buffer.alloc(TEXT);
  const data = new BigUint64Array(1);
  const flags = new Int32Array(1);
  const read = (): string => text.toString('latin1', 0, text.indexOf(0));
  return () => {
    const all: string[] = [];
    for (let code = peek(data, flags); code !== 0; code = peek(data, flags)) {
      describe(code, text, text.length);
      let line = read();
      if ((flags[0]! & HAS_TEXT) !== 0 && data[0] !== 0n) {
        copyText(text, Number(data[0]), text.length - 1);
        const more = read();
        line += more === '' ? '' : `:${more}`;
      }
      all.push(line);
      next();
    }
    return all.join(' ');
  };
}
