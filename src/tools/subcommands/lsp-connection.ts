// The only file that imports vscode-languageserver; the build makes it a file of its own with the package in it.
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CodeActionKind,
  CompletionItemKind,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  type Range as LspRange,
  MarkupKind,
  ProposedFeatures,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { byteText, nativeText } from '../../shared/text/native-text.js';
import type { Completion } from '../editor/completion.js';
import type { Editor, TextRange } from '../editor/editor.js';
import { TOKEN_TYPES } from '../editor/tokens.js';
import type { Workspace } from '../editor/workspace.js';
import { documentSymbols, quickFixes, semanticTokens } from './lsp-edits.js';
import { EditorPlaces, type Position } from './lsp-places.js';

/** Makes the editor once it is known which main file the user has named (latin1), if any. */
export type MakeEditor = (main: string | undefined) => { readonly editor: Editor; readonly workspace: Workspace };

const KINDS: Readonly<Record<Completion['kind'], CompletionItemKind>> = {
  directive: CompletionItemKind.Keyword,
  variable: CompletionItemKind.Variable,
  name: CompletionItemKind.Reference,
  keyword: CompletionItemKind.EnumMember,
};
const SEVERITIES = { error: DiagnosticSeverity.Error, warning: DiagnosticSeverity.Warning, information: DiagnosticSeverity.Information };

/**
 * Serves an editor over standard input and output until it says `exit`; resolves to the exit code. The editor's texts are in UTF-16 and
 * its paths are URIs; ours are latin1, a character for a byte.
 */
export function serveEditor(make: MakeEditor): Promise<number> {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  const documents = new TextDocuments(TextDocument);
  let { editor, workspace } = make(undefined);
  /** For each open file, the files about which it has made us say something. */
  const told = new Map<string, readonly string[]>();

  const textOf = (file: string): string => documents.get(uriOf(file))?.getText() ?? nativeText(editor.textOf(file));
  let latest = new EditorPlaces('');
  /** An answer is about one file mostly, whose text is the same for all of it. */
  const placesOf = (file: string): EditorPlaces => {
    const text = textOf(file);
    if (latest.text !== text) {
      latest = new EditorPlaces(text);
    }
    return latest;
  };
  const rangeIn = ({ file, start, end }: TextRange): LspRange => {
    const places = placesOf(file);
    return { start: places.position(start), end: places.position(end) };
  };
  const byteAt = (uri: string, position: Position): number => placesOf(pathOf(uri)).byte(position);

  connection.onInitialize(({ initializationOptions }) => {
    const main: unknown = initializationOptions?.main;
    ({ editor, workspace } = make(typeof main === 'string' ? byteText(main) : undefined));
    return {
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        completionProvider: { triggerCharacters: ['$', '@', '=', '/'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: true,
        documentFormattingProvider: true,
        documentSymbolProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        semanticTokensProvider: { legend: { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [] }, full: true },
      },
      serverInfo: { name: 'sluice' },
    };
  });

  const check = async (uri: string): Promise<void> => {
    const file = pathOf(uri);
    const { files, problems } = await editor.problems(file);
    const before = told.get(uri) ?? [];
    told.set(uri, files);
    for (const each of new Set([...before, ...files])) {
      const diagnostics = problems
        .filter((problem) => problem.file === each)
        .map(({ line, column, severity, message, rule }): Diagnostic => {
          const places = placesOf(each);
          const start = places.lineStart(line) + column - 1;
          const end = start + Math.max(1, /^[^\s;{}]*/.exec(places.bytes.slice(start, start + LONGEST_WORD))?.[0].length ?? 1);
          const source = rule === undefined ? { source: 'sluice' } : { source: 'sluice lint', code: rule };
          return { range: rangeIn({ file: each, start, end }), severity: SEVERITIES[severity], message: nativeText(message), ...source };
        });
      void connection.sendDiagnostics({ uri: uriOf(each), diagnostics });
    }
  };

  documents.onDidChangeContent(({ document }) => {
    workspace.open(pathOf(document.uri), byteText(document.getText()));
    void check(document.uri);
  });
  documents.onDidSave(({ document }) => void check(document.uri));
  documents.onDidClose(({ document }) => {
    workspace.close(pathOf(document.uri));
    for (const file of told.get(document.uri) ?? []) {
      void connection.sendDiagnostics({ uri: uriOf(file), diagnostics: [] });
    }
    told.delete(document.uri);
  });

  connection.onCompletion(({ textDocument: { uri }, position }) => {
    const file = pathOf(uri);
    const at = byteAt(uri, position);
    const end = rangeIn({ file, start: at, end: at }).end;
    const starts = new Map<number, Position>();
    const startOf = (from: number): Position => {
      const known = starts.get(from) ?? placesOf(file).position(from);
      starts.set(from, known);
      return known;
    };
    return editor.completions(file, at).map(({ label, kind, from, text }) => ({
      label: nativeText(label),
      kind: KINDS[kind],
      documentation: { kind: MarkupKind.Markdown, value: text },
      textEdit: { range: { start: startOf(from), end }, newText: nativeText(label) },
    }));
  });
  connection.onHover(({ textDocument: { uri }, position }) => {
    const found = editor.hover(pathOf(uri), byteAt(uri, position));
    return found === undefined
      ? null
      : { contents: { kind: MarkupKind.Markdown, value: nativeText(found.text) }, range: rangeIn(found.range) };
  });
  const located = (ranges: readonly TextRange[]): { uri: string; range: LspRange }[] =>
    ranges.map((range) => ({ uri: uriOf(range.file), range: rangeIn(range) }));
  connection.onDefinition(({ textDocument: { uri }, position }) => located(editor.definition(pathOf(uri), byteAt(uri, position))));
  connection.onReferences(({ textDocument: { uri }, position }) => located(editor.references(pathOf(uri), byteAt(uri, position))));
  connection.onRenameRequest(({ textDocument: { uri }, position, newName }) => {
    const ranges = editor.rename(pathOf(uri), byteAt(uri, position), byteText(newName));
    if (ranges === undefined) {
      return new ResponseError(0, 'only names that this configuration defines can be changed, to a name of the same kind');
    }
    const changes: Record<string, { range: LspRange; newText: string }[]> = {};
    for (const { uri: each, range } of located(ranges)) {
      (changes[each] ??= []).push({ range, newText: newName });
    }
    return { changes };
  });
  connection.onDocumentFormatting(({ textDocument: { uri } }) => {
    const file = pathOf(uri);
    const text = editor.formatted(file);
    const end = placesOf(file).bytes.length;
    return text === undefined ? [] : [{ range: rangeIn({ file, start: 0, end }), newText: nativeText(text) }];
  });

  connection.onDocumentSymbol(({ textDocument: { uri } }) => {
    const file = pathOf(uri);
    return documentSymbols(editor.outline(file), (start, end) => rangeIn({ file, start, end }));
  });
  connection.onCodeAction(({ textDocument: { uri }, context }) =>
    quickFixes(uri, context.diagnostics, ({ line, character }) => {
      const [text = ''] = textOf(pathOf(uri))
        .split('\n')
        .slice(line, line + 1);
      return text.slice(character);
    }),
  );
  connection.languages.semanticTokens.on(({ textDocument: { uri } }) => {
    const file = pathOf(uri);
    return { data: semanticTokens(editor.tokens(file), placesOf(file).bytes) };
  });

  return new Promise((done) => {
    let asked = false;
    connection.onShutdown(() => {
      asked = true;
    });
    connection.onExit(() => done(asked ? 0 : 1));
    documents.listen(connection);
    connection.listen();
  });
}

/** So much of a word is underlined. */
const LONGEST_WORD = 1000;

const pathOf = (uri: string): string => (uri.startsWith('file:') ? byteText(fileURLToPath(uri)) : uri);
const uriOf = (file: string): string => (file.startsWith('/') ? pathToFileURL(nativeText(file)).href : file);
