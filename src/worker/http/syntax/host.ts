/** What a Host header or the authority of a request target says. */
export interface HostParts {
  /** In lower case, without the port and without a trailing dot; an IPv6 address keeps its brackets. */
  host: string;
  /** 0 if there was none. */
  port: number;
}

const BAD = 0;
const GOOD = 1;
const CAPITAL = 2;

// What may stand in a name: unreserved and sub-delims of RFC 3986; "%" too, but not between brackets.
const nameByte = new Uint8Array(256);
for (const c of "0123456789abcdefghijklmnopqrstuvwxyz-_~!$&'()*+,;=") {
  nameByte[c.charCodeAt(0)] = GOOD;
}
for (let c = 0x41; c <= 0x5a; c++) {
  nameByte[c] = CAPITAL;
}

/**
 * Checks a host with an optional port and fills `out`; false if it is malformed: a byte that may not be there, two dots in a row, an
 * open bracket, a port above 65535, or no name at all (nginx: ngx_http_validate_host).
 */
export function validateHost(raw: string, out: HostParts): boolean {
  const length = raw.length;
  const literal = raw.charCodeAt(0) === 0x5b;
  let capitals = false;
  let dot = -2;
  let i = literal ? 1 : 0;

  for (; i < length; i++) {
    const c = raw.charCodeAt(i);
    const kind = nameByte[c]!;
    if (kind !== BAD) {
      if (kind === CAPITAL) {
        capitals = true;
      }
    } else if (c === 0x2e) {
      if (dot === i - 1) {
        return false;
      }
      dot = i;
    } else if (c === 0x3a) {
      if (!literal) {
        break;
      }
    } else if (c === 0x5d) {
      if (literal) {
        break;
      }
      return false;
    } else if (c !== 0x25 || literal) {
      return false;
    }
  }

  let end = i;
  if (literal) {
    if (i === length) {
      return false;
    }
    end = ++i;
    if (i < length && raw.charCodeAt(i) !== 0x3a) {
      return false;
    }
  }

  let port = 0;
  for (i++; i < length; i++) {
    const digit = raw.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) {
      return false;
    }
    port = port * 10 + digit;
    if (port > 65535) {
      return false;
    }
  }

  if (dot === end - 1) {
    end--;
  }
  if (end <= 0) {
    return false;
  }
  const host = end === length ? raw : raw.slice(0, end);
  // Only A-Z can be capitals here: every byte was checked above.
  out.host = capitals ? host.toLowerCase() : host;
  out.port = port;
  return true;
}
