/** Replaces `\x` and two hexadecimal digits by the character that they name. */
export const hexLiterals = (text: string): string =>
  text.replace(/\\x([0-9a-f]{2})/gi, (_whole, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
