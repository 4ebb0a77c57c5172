/**
 * Lower-cases A-Z and leaves every other byte alone (nginx: ngx_strlow). String.prototype.toLowerCase would
 * also change bytes such as 0xC0, which in a latin1 string are parts of UTF-8 sequences.
 */
export function lowerAscii(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0x41 && c <= 0x5a) {
      return lowerFrom(text, i);
    }
  }
  return text;
}

function lowerFrom(text: string, first: number): string {
  for (let i = first; i < text.length; i++) {
    if (text.charCodeAt(i) >= 0x80) {
      return text.replace(/[A-Z]+/g, lowerRun);
    }
  }
  return text.toLowerCase();
}

function lowerRun(run: string): string {
  return run.toLowerCase();
}
