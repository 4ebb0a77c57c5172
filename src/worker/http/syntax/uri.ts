import { Buffer } from 'node:buffer';
import { hexDigit } from '../../../shared/text/hex-digit.js';
import { latin1 } from '../../bytes/latin1.js';
import { ups } from './ups.js';
import { unescapeUri } from './uri-escape.js';

/** What the parsers below find in a request target. */
export interface UriParts {
  /** The decoded and normalised path. */
  uri: string;
  /** The text between "?" and "#", as sent. */
  args: string;
  /** What follows the last "." of the path's last segment. */
  exten: string;
  /** The path has "//", "/." or "#" and needs normalising. */
  complexUri: boolean;
  /** The path has "%". */
  quotedUri: boolean;
  /** The path has "+", which is escaped when the path is passed on. */
  plusInUri: boolean;
}

const SLASH = 0x2f;

// The bytes that change nothing about the state of the parser (nginx: usual).
const usual = new Uint8Array(256);
for (let c = 0x21; c < 0x100; c++) {
  if (c !== 0x7f && !'#%+./?'.includes(String.fromCharCode(c))) {
    usual[c] = 1;
  }
}

// Where a path is decoded into; it grows to the longest path seen.
let scratch = Buffer.allocUnsafeSlow(1024);

// Looks over a target up to the place where its path stops being plain; false if it has a byte that may not be there (nginx:
// ngx_http_parse_uri). If `complexUri` or `quotedUri` is set afterwards the path still has to go through parseComplexUri.
function parseUri(raw: string, out: UriParts): boolean {
  out.uri = raw;
  out.args = '';
  out.exten = '';
  out.complexUri = out.quotedUri = out.plusInUri = false;
  if (raw.charCodeAt(0) !== SLASH) {
    return raw.length === 0;
  }

  let afterSlash = true;
  let extension = -1;
  let args = -1;
  let i = 1;
  for (; i < raw.length; i++) {
    const c = raw.charCodeAt(i);
    if (usual[c] === 1) {
      afterSlash = false;
    } else if (c === SLASH) {
      if (afterSlash) {
        break;
      }
      extension = -1;
      afterSlash = true;
    } else if (c === 0x2e) {
      if (afterSlash) {
        break;
      }
      extension = i + 1;
    } else if (c === 0x2b) {
      out.plusInUri = true;
    } else {
      break;
    }
  }

  if (i < raw.length) {
    const c = raw.charCodeAt(i);
    if (c === 0x3f) {
      args = i + 1;
    } else if (c === 0x25) {
      out.quotedUri = true;
    } else if (c === SLASH || c === 0x2e) {
      out.complexUri = true;
    }
    for (; i < raw.length; i++) {
      const rest = raw.charCodeAt(i);
      if (rest === 0x23) {
        out.complexUri = true;
      } else if (rest <= 0x20 || rest === 0x7f) {
        return false;
      }
    }
  }
  const pathEnd = args === -1 ? raw.length : args - 1;
  if (args !== -1) {
    out.uri = raw.slice(0, pathEnd);
    out.args = raw.slice(args);
  }
  if (extension !== -1) {
    out.exten = raw.slice(extension, pathEnd);
  }
  return true;
}

const USUAL = 0;
const AFTER_SLASH = 1;
const AFTER_DOT = 2;
const AFTER_DOT_DOT = 3;

// Decodes and normalises a target; false if it is malformed: "%" without two hexadecimal digits, "%00", or ".." above the root (nginx:
// ngx_http_parse_complex_uri). An encoded byte means what the byte itself means, except that "%23", "%25" and "%3F" are plain bytes.
function parseComplexUri(raw: string, mergeSlashes: boolean, emptyPath: boolean, out: UriParts): boolean {
  if (scratch.length < raw.length + 1) {
    scratch = Buffer.allocUnsafeSlow(raw.length * 2);
  }
  const path = scratch;
  const length = raw.length;
  let state = USUAL;
  let extension = -1;
  let args = -1;
  let u = 0;
  if (emptyPath) {
    path[u++] = SLASH;
  }

  for (let i = 0; i < length; i++) {
    let c = raw.charCodeAt(i);
    if (usual[c] === 1) {
      state = USUAL;
      path[u++] = c;
      continue;
    }

    if (c === 0x25) {
      out.quotedUri = true;
      const high = hexDigit(raw.charCodeAt(i + 1));
      const low = hexDigit(raw.charCodeAt(i + 2));
      if (high === -1 || low === -1) {
        return false;
      }
      i += 2;
      c = (high << 4) | low;
      if (c === 0) {
        return false;
      }
      if (c === 0x23 || c === 0x25 || c === 0x3f || usual[c] === 1) {
        state = USUAL;
        path[u++] = c;
        continue;
      }
    }

    if (c === SLASH) {
      if (state === AFTER_SLASH) {
        if (!mergeSlashes) {
          path[u++] = SLASH;
        }
      } else if (state === AFTER_DOT) {
        u--;
        state = AFTER_SLASH;
      } else if (state === AFTER_DOT_DOT) {
        u = parentEnd(path, u);
        if (u === -1) {
          return false;
        }
        state = AFTER_SLASH;
      } else {
        extension = -1;
        path[u++] = SLASH;
        state = AFTER_SLASH;
      }
    } else if (c === 0x2e) {
      if (state === USUAL) {
        extension = u + 1;
      }
      state = state === USUAL || state === AFTER_DOT_DOT ? USUAL : state + 1;
      path[u++] = c;
    } else if (c === 0x3f) {
      args = i + 1;
      break;
    } else if (c === 0x23) {
      break;
    } else {
      if (c === 0x2b) {
        out.plusInUri = true;
      }
      state = USUAL;
      path[u++] = c;
    }
  }

  if (state === AFTER_DOT) {
    u--;
  }
  if (state === AFTER_DOT_DOT) {
    u = parentEnd(path, u);
    if (u === -1) {
      return false;
    }
  }

  out.uri = latin1(path, 0, u);
  out.args = '';
  if (args !== -1) {
    const fragment = raw.indexOf('#', args);
    out.args = fragment === -1 ? raw.slice(args) : raw.slice(args, fragment);
  }
  out.exten = extension === -1 || extension >= u ? '' : latin1(path, extension, u);
  return true;
}

// `u` is after "/..": the place after the parent's "/", or -1 above the root.
function parentEnd(path: Buffer, u: number): number {
  let i = u - 4;
  while (i >= 0 && path[i] !== SLASH) {
    i--;
  }
  return i < 0 ? -1 : i + 1;
}

/**
 * Parses a request target, a path with arguments, into `out` and normalises the path where it needs it; false if it is malformed. The
 * target of "http://host?args" has no path and begins with its "?": its path is "/". A plain path is sliced without a copy.
 */
export function normalizeUri(raw: string, mergeSlashes: boolean, out: UriParts): boolean {
  if (raw.charCodeAt(0) === 0x3f) {
    out.complexUri = out.quotedUri = out.plusInUri = false;
    return parseComplexUri(raw, mergeSlashes, true, out);
  }
  if (!parseUri(raw, out)) {
    return false;
  }
  return out.complexUri || out.quotedUri ? parseComplexUri(raw, mergeSlashes, false, out) : true;
}

/** Splits a request target that is its own normal form: a path without "%", "#", "+", "//" and "/.", with arguments. */
export function splitSimpleUri(raw: string, out: UriParts): void {
  const question = raw.indexOf('?');
  const end = question === -1 ? raw.length : question;
  out.uri = question === -1 ? raw : raw.slice(0, question);
  out.args = question === -1 ? '' : raw.slice(question + 1);
  out.exten = '';
  for (let i = end - 1, c = 0; i > 0 && c !== SLASH; i--) {
    c = raw.charCodeAt(i);
    if (c === 0x2e) {
      out.exten = raw.slice(i + 1, end);
      break;
    }
  }
  out.complexUri = out.quotedUri = out.plusInUri = false;
}

/**
 * Checks and decodes a path that a response header or a Destination header names, and splits off its arguments; undefined if it is
 * empty, holds a zero byte or climbs with ".." (nginx: ngx_http_parse_unsafe_uri). It is decoded but not normalised otherwise. Unlike
 * nginx it also refuses a last ".." that is followed by arguments.
 */
export function parseUnsafeUri(raw: string): { readonly uri: string; readonly args: string } | undefined {
  const question = raw.indexOf('?');
  let uri = question === -1 ? raw : raw.slice(0, question);
  const args = question === -1 ? '' : raw.slice(question + 1);
  if (uri === '' || isUnsafe(uri)) {
    return undefined;
  }
  if (uri.includes('%')) {
    uri = unescapeUri(uri, 'all');
    if (isUnsafe(uri)) {
      return undefined;
    }
  }
  return { uri, args };
}

const isUnsafe = (path: string): boolean => path.includes('\0') || ups(path) > 0;
