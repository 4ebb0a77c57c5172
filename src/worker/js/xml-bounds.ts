/** How deep elements may stand in each other: as libxml2 has it, which counts 256 and lets one more pass. */
const DEEPEST = 257;
/** What else a document may have. libxml2 has no such bounds, but takes a tenth of the time. */
const MOST_TAGS = 200_000;
const MOST_ATTRIBUTES = 10_000;
const LONGEST_DOCTYPE = 16 * 1024;

/** What ends a part of a document that begins with a text. */
const PARTS: readonly (readonly [begin: string, end: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
];

const GT = 0x3e;
const SLASH = 0x2f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const EQUALS = 0x3d;

/**
 * Looks whether a document keeps within what is parsed, in one walk over its text. Returns what is too much; undefined for nothing, also
 * where the document is not well formed, which is left to the parser to say.
 */
export function excess(text: string): string | undefined {
  let depth = 0;
  let tags = 0;
  for (let at = text.indexOf('<'); at !== -1; ) {
    const part = PARTS.find(([begin]) => text.startsWith(begin, at));
    if (part !== undefined) {
      const end = text.indexOf(part[1], at + part[0].length);
      if (end === -1) {
        return undefined;
      }
      at = text.indexOf('<', end);
      continue;
    }
    if (text.startsWith('<!', at)) {
      const end = doctypeEnd(text, at);
      if (end - at > LONGEST_DOCTYPE) {
        return 'the document type declaration is too long';
      }
      at = text.indexOf('<', end);
      continue;
    }
    if (++tags > MOST_TAGS) {
      return 'there are too many elements';
    }
    const closing = text.charCodeAt(at + 1) === SLASH;
    let attributes = 0;
    let end = at + 1;
    for (let quote = 0; end < text.length; end++) {
      const c = text.charCodeAt(end);
      if (quote !== 0) {
        quote = c === quote ? 0 : quote;
      } else if (c === GT) {
        break;
      } else if (c === EQUALS) {
        attributes++;
      } else if (c === QUOTE || c === APOSTROPHE) {
        quote = c;
      }
    }
    if (attributes > MOST_ATTRIBUTES) {
      return 'an element has too many attributes';
    }
    if (closing) {
      depth--;
    } else if (++depth > DEEPEST) {
      return 'Excessive depth in document: 256';
    } else if (text.charCodeAt(end - 1) === SLASH) {
      depth--;
    }
    at = text.indexOf('<', end);
  }
  return undefined;
}

/** What is not well formed about a document that its parser has taken; undefined for nothing. Its parts have their ends. */
export function unnoticed(text: string): string | undefined {
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0+|x0+);/i.test(text)) {
    return 'a character is not allowed';
  }
  const marked = text.replace(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE[^[>]*(?:\[[^\]]*\])?[^>]*>/g, '');
  if (/&(?!(?:#\d+|#x[\da-f]+|[\p{L}_:][\p{L}\p{N}_:.-]*);)/iu.test(marked)) {
    return 'an ampersand begins no reference';
  }
  if (/<(?:[^>"']|"[^"]*"|'[^']*')*\/\s+>/.test(marked)) {
    return 'an empty element has no end';
  }
  return marked.replace(/<(?:[^>"']|"[^"]*"|'[^']*')*>/g, '').includes(']]>') ? 'a text has the end of a CDATA section' : undefined;
}

/** Where a declaration of a document type ends, with what it has in brackets. */
function doctypeEnd(text: string, from: number): number {
  let inner = 0;
  let quote = 0;
  for (let at = from + 2; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (quote !== 0) {
      quote = c === quote ? 0 : quote;
    } else if (c === QUOTE || c === APOSTROPHE) {
      quote = c;
    } else if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 4);
      at = end === -1 ? text.length : end + 2;
    } else if (text[at] === '[') {
      inner++;
    } else if (text[at] === ']') {
      inner--;
    } else if (c === GT && inner <= 0) {
      return at + 1;
    }
  }
  return text.length;
}
