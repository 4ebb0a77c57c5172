import { fieldOf, type ReadField } from './log-line.js';

/** Whether a line is wanted. */
export type LogFilter = (read: ReadField) => boolean;

const CONDITION = /^([A-Za-z_]\w*)(!=|!~|>=|<=|=|~|>|<)(.*)$/s;

/** Reads a condition such as `status>=500`, `host=example.com` or `path~^/api`; undefined when the word is none. Throws on bad patterns. */
export function parseLogFilter(word: string): LogFilter | undefined {
  const match = CONDITION.exec(word);
  if (match === null) {
    return undefined;
  }
  const [, name, operator, value] = match as unknown as [string, string, string, string];
  const number = Number(value);
  switch (operator) {
    case '=':
      return (read) => fieldOf(read, name) === value;
    case '!=':
      return (read) => fieldOf(read, name) !== value;
    case '~':
    case '!~': {
      const pattern = new RegExp(value);
      const wanted = operator === '~';
      return (read) => pattern.test(fieldOf(read, name) ?? '') === wanted;
    }
    case '>':
      return (read) => Number(fieldOf(read, name)) > number;
    case '>=':
      return (read) => Number(fieldOf(read, name)) >= number;
    case '<':
      return (read) => Number(fieldOf(read, name)) < number;
    default:
      return (read) => Number(fieldOf(read, name)) <= number;
  }
}
