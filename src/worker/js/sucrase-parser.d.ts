/** The parser that sucrase has inside: its package says what it is like, but not beside the file. */
declare module 'sucrase/dist/parser/index.js' {
  export { parse } from 'sucrase/dist/types/parser/index.js';
}
