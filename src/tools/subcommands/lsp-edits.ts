// What the language server answers beside the questions about names: quick fixes, the outline of a file, and its colours; in the protocol's
// form.
import { nativeText } from '../../shared/text/native-text.js';
import type { OutlineItem } from '../editor/outline.js';
import { type ColouredToken, TOKEN_TYPES } from '../editor/tokens.js';

interface Position {
  readonly line: number;
  readonly character: number;
}

interface LspRange {
  readonly start: Position;
  readonly end: Position;
}

/** A block in the outline. */
interface LspSymbol {
  readonly name: string;
  readonly detail: string;
  readonly kind: 2 | 3 | 5 | 6;
  readonly range: LspRange;
  readonly selectionRange: LspRange;
  readonly children: LspSymbol[];
}

/** The protocol's numbers of modules, methods, classes and namespaces. */
const SYMBOLS: Readonly<Record<OutlineItem['kind'], LspSymbol['kind']>> = { server: 2, location: 6, upstream: 5, block: 3 };

/** What mends messages that say "did you mean". `lineFrom` is the text from a place to the end of its line. */
export function quickFixes<D extends { readonly message: unknown; readonly range: LspRange }>(
  uri: string,
  diagnostics: readonly D[],
  lineFrom: (start: Position) => string,
) {
  return diagnostics.flatMap((diagnostic) => {
    const message = typeof diagnostic.message === 'string' ? diagnostic.message : '';
    const meant = /\bdid you mean `\$?([^`\n]+)`\?/.exec(message)?.[1];
    const wrong = /"([^"\n]+)"/.exec(message)?.[1];
    const { start } = diagnostic.range;
    const at = wrong === undefined ? -1 : lineFrom(start).indexOf(wrong);
    if (meant === undefined || wrong === undefined || at < 0) {
      return [];
    }
    const range = {
      start: { line: start.line, character: start.character + at },
      end: { line: start.line, character: start.character + at + wrong.length },
    };
    const edit = { changes: { [uri]: [{ range, newText: meant }] } };
    return [{ title: `Change to "${meant}"`, kind: 'quickfix', diagnostics: [diagnostic], isPreferred: true, edit }];
  });
}

/** The outline in the protocol's form. */
export function documentSymbols(items: readonly OutlineItem[], rangeOf: (start: number, end: number) => LspRange): LspSymbol[] {
  return items.map(({ name, detail, kind, start, end, nameEnd, children }) => ({
    name: nativeText(name),
    detail: nativeText(detail),
    kind: SYMBOLS[kind],
    range: rangeOf(start, end),
    selectionRange: rangeOf(start, Math.min(nameEnd, end)),
    children: documentSymbols(children, rangeOf),
  }));
}

/** The colours as the protocol wants them: each place is told from the one before. Lengths are of UTF-16. */
export function semanticTokens(tokens: readonly ColouredToken[], bytes: string): number[] {
  const data: number[] = [];
  let line = 0;
  let lineStart = 0;
  let [toldLine, toldAt] = [0, 0];
  for (const { start, end, type } of tokens) {
    for (let feed = bytes.indexOf('\n', lineStart); feed >= 0 && feed < start; feed = bytes.indexOf('\n', lineStart)) {
      line++;
      lineStart = feed + 1;
    }
    if (line !== toldLine) {
      toldAt = 0;
    }
    const at = nativeText(bytes.slice(lineStart, start)).length;
    data.push(line - toldLine, at - toldAt, nativeText(bytes.slice(start, end)).length, TOKEN_TYPES.indexOf(type), 0);
    [toldLine, toldAt] = [line, at];
  }
  return data;
}
