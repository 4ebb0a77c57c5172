const escapes: { readonly [c: string]: string } = { r: '\r', n: '\n', t: '\t', '\\': '\\' };

/**
 * The bytes that a block of text in a file of cases stands for. Lines end with CRLF; "\r", "\n", "\t", "\xHH" and "\\" stand for those
 * bytes, a "\" before a line's end joins the lines, and "{a*100}" is a hundred times "a".
 */
export function bytesOf(block: string): Buffer {
  const text = block
    .replace(/\\\n/g, '')
    .replace(/\n/g, '\r\n')
    .replace(/\{([^{}]+)\*(\d+)\}/g, (_all, what: string, times: string) => what.repeat(Number(times)))
    .replace(/\\(?:x([0-9a-f]{2})|([rnt\\]))/g, (_all, hex: string | undefined, c: string) =>
      hex === undefined ? escapes[c]! : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(text, 'latin1');
}

/** Text in quotes; long runs of one byte are shortened so that cases stay readable. */
export function quoted(value: string): string {
  const short = value.replace(/([\s\S])\1{39,}/g, (run) => `${run[0]}*${run.length}`);
  return JSON.stringify(short).replace(/[\x7f-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}
