/** Digits of the numbers in names. Huffman's code has five bits for each: all names of a case are equally long over HTTP/2 and 3. */
const DIGITS = '012aceiost';

/** The names that {@link runHost} makes, as a part of an expression. */
export const RUN_HOST = `r[${DIGITS}]{7}\\.c\\d+\\.test`;

/** The host name of a case in one of its runs. */
export const runHost = (run: number, name: string): string =>
  `r${String(run)
    .padStart(7, '0')
    .replace(/\d/g, (digit) => DIGITS[Number(digit)]!)}.${name}.test`;
