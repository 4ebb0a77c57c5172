const NOT_PLAIN = /[^ !#-[\]-~]/;
const EACH_NOT_PLAIN = /[^ !#-[\]-~]/g;
const NOT_JSON = /[\x00-\x1f"\\]|[^\x00-\x7f]/;
const EACH_NOT_JSON = /[\x00-\x1f"\\]/g;
/** Each well-formed UTF-8 sequence of two bytes or more, or one byte that is part of none, or characters that are no bytes at all. */
const UTF8 =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]|[^\x00-\xff]+/g;

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0');

/**
 * The value with everything outside printable ASCII, `"` and `\` as `\xXX`, the escaping of access logs by default.
 * nginx: ngx_http_log_escape.
 */
export function escapeDefault(value: string): string {
  return NOT_PLAIN.test(value) ? value.replace(EACH_NOT_PLAIN, escapePlainByte) : value;
}

function escapePlainByte(found: string): string {
  const code = found.charCodeAt(0);
  // A character that is no byte would be cut to its low byte by the file, which might be a line feed.
  return `\\x${hex(code & 0xff)}`;
}

/**
 * The value as the inside of a JSON string: `"`, `\` and control characters escaped, UTF-8 left alone. Unlike nginx, a byte that is no
 * valid UTF-8 becomes `\u00XX`, because parsers refuse a line that holds it. nginx: ngx_escape_json.
 */
export function escapeJson(value: string): string {
  return NOT_JSON.test(value) ? utf8Only(value.replace(EACH_NOT_JSON, escapeJsonByte)) : value;
}

function escapeJsonByte(found: string): string {
  switch (found) {
    case '"':
      return '\\"';
    case '\\':
      return '\\\\';
    case '\n':
      return '\\n';
    case '\r':
      return '\\r';
    case '\t':
      return '\\t';
    case '\b':
      return '\\b';
    case '\f':
      return '\\f';
    default:
      return `\\u00${hex(found.charCodeAt(0))}`;
  }
}

/** JSON text whose bytes (one per character) are valid UTF-8: a byte that is not part of a sequence becomes `\u00XX`. */
export function utf8Only(json: string): string {
  return json.replace(UTF8, (found) => {
    const code = found.charCodeAt(0);
    if (code > 0xff) {
      return Buffer.from(found, 'utf8').toString('latin1');
    }
    return found.length > 1 ? found : `\\u00${hex(code)}`;
  });
}
