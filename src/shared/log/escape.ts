import { byteText } from '../text/native-text.js';

const NOT_PLAIN = /[^ !#-[\]-~]/;
const NOT_JSON = /[^ !#-[\]-\x7f]/;
const NOT_ASCII = /[^\x00-\x7f]/;
/** Each well-formed UTF-8 sequence of two bytes or more, or one byte that is part of none, or characters that are no bytes at all. */
const UTF8 =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]|[^\x00-\xff]+/g;

const QUOTE = 34;
const BACKSLASH = 92;

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0');

/**
 * The value with everything outside printable ASCII, `"` and `\` as `\xXX`, the escaping of access logs by default.
 * nginx: ngx_http_log_escape.
 */
export function escapeDefault(value: string): string {
  return NOT_PLAIN.test(value) ? escapeEach(value, escapePlainByte) : value;
}

function escapePlainByte(code: number): string {
  // A character that is no byte would be cut to its low byte by the file, which might be a line feed.
  return code >= 32 && code <= 126 && code !== QUOTE && code !== BACKSLASH ? '' : `\\x${hex(code & 0xff)}`;
}

/**
 * The value as the inside of a JSON string: `"`, `\` and control characters escaped, UTF-8 left alone. Unlike nginx, a byte that is no
 * valid UTF-8 becomes `\u00XX`, because parsers refuse a line that holds it. nginx: ngx_escape_json.
 */
export function escapeJson(value: string): string {
  return NOT_JSON.test(value) ? utf8Only(escapeEach(value, escapeJsonByte)) : value;
}

function escapeJsonByte(code: number): string {
  switch (code) {
    case QUOTE:
      return '\\"';
    case BACKSLASH:
      return '\\\\';
    case 10:
      return '\\n';
    case 13:
      return '\\r';
    case 9:
      return '\\t';
    case 8:
      return '\\b';
    case 12:
      return '\\f';
    default:
      return code < 32 ? `\\u00${hex(code)}` : '';
  }
}

/**
 * The value with what `replacement` says in place of each character for which it is not empty. A loop: `replace` with a function
 * takes three times as long.
 */
function escapeEach(value: string, replacement: (code: number) => string): string {
  let text = '';
  let from = 0;
  for (let i = 0; i < value.length; i++) {
    const escaped = replacement(value.charCodeAt(i));
    if (escaped !== '') {
      text += value.slice(from, i) + escaped;
      from = i + 1;
    }
  }
  return text + value.slice(from);
}

/** JSON text whose bytes (one per character) are valid UTF-8: a byte that is not part of a sequence becomes `\u00XX`. */
export function utf8Only(json: string): string {
  return NOT_ASCII.test(json) ? json.replace(UTF8, validSequence) : json;
}

function validSequence(found: string): string {
  const code = found.charCodeAt(0);
  if (code > 0xff) {
    return byteText(found);
  }
  return found.length > 1 ? found : `\\u00${hex(code)}`;
}
