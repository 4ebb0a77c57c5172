/** Set in builds for tests by `SLUICE_POISON=1 npm run build`. */
declare const SPOILS: boolean | undefined;

/** Whether memory is overwritten: in builds for tests alone. */
export const spoils = typeof SPOILS === 'boolean' && SPOILS;

/** Four letters that nothing writes as they are: tests look for them in all that leaves the server. */
const PATTERN = 'zQxJ';

/**
 * Says that nobody uses bytes of memory that is used again: whoever does is wrong. In a build for tests they are overwritten, so that
 * such a mistake shows; otherwise nothing happens.
 */
export function spoil(bytes: Buffer, start = 0, end: number = bytes.length): void {
  if (spoils) {
    bytes.fill(PATTERN, start, end, 'latin1');
  }
}
