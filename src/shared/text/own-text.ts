/**
 * A copy of a latin1 text in one piece of memory: a piece of a text keeps the whole text alive, and a joined one is put together anew
 * each time.
 */
export const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
