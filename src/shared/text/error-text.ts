/** What was thrown as text, with where that was: it may be anything, and do anything when it is asked. */
export function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : String(error);
  } catch {
    return 'an exception that has no text';
  }
}

/** A text of several lines, such as a stack, as one line of a log. */
export const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

/** What was thrown in one line of a log, with where that was. */
export const lineOf = (error: unknown): string => oneLine(stackOf(error));
