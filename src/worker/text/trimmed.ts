/** Whether a character, by its code, is a blank or a tab. */
export const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/**
 * A text without the characters at its ends that are to be dropped, by their codes. An expression such as / +$/ would take time that grows
 * with the square of the text.
 */
export function trimmed(text: string, drops: (code: number) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && drops(text.charCodeAt(start))) {
    start++;
  }
  while (end > start && drops(text.charCodeAt(end - 1))) {
    end--;
  }
  return text.slice(start, end);
}
