// The extension: tells the language server of open files, and puts its answers into the editor's forms.
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { startClient } from './client.js';

const LANGUAGE = { language: 'nginx', scheme: 'file' };

let client;
let problems;
let providers = [];

export async function activate(context) {
  problems = vscode.languages.createDiagnosticCollection('sluice');
  const { workspace } = vscode;
  context.subscriptions.push(
    problems,
    vscode.commands.registerCommand('sluice.restart', restart),
    workspace.onDidOpenTextDocument(opened),
    workspace.onDidChangeTextDocument(changed),
    workspace.onDidSaveTextDocument((document) => isOurs(document) && client?.tell('textDocument/didSave', { textDocument: idOf(document) })),
    workspace.onDidCloseTextDocument((document) => isOurs(document) && client?.tell('textDocument/didClose', { textDocument: idOf(document) })),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('sluice') && restart()),
  );
  await start();
}

export async function deactivate() {
  for (const provider of providers.splice(0)) {
    provider.dispose();
  }
  const ending = client;
  client = undefined;
  problems?.clear();
  await ending?.end();
}

async function restart() {
  await deactivate();
  await start();
}

async function start() {
  const settings = vscode.workspace.getConfiguration('sluice');
  client = await startClient(commandOf(settings.get('command', [])), {
    main: settings.get('main', ''),
    told: { 'textDocument/publishDiagnostics': showProblems },
    failed: (message) => void vscode.window.showErrorMessage(message),
  });
  if (client !== undefined) {
    providers = register(client);
    vscode.workspace.textDocuments.forEach(opened);
  }
}

/** The command that was named; else that of the workspace's package, or of the path. */
function commandOf(named) {
  if (named.length > 0) {
    return named;
  }
  const local = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => `${uri.fsPath}/node_modules/.bin/sluice`).find(existsSync);
  return [local ?? 'sluice'];
}

const isOurs = (document) => document.languageId === 'nginx' && document.uri.scheme === 'file';
const idOf = (document) => ({ uri: document.uri.toString() });

function opened(document) {
  if (isOurs(document)) {
    const { version } = document;
    client?.tell('textDocument/didOpen', { textDocument: { ...idOf(document), languageId: 'nginx', version, text: document.getText() } });
  }
}

function changed({ document, contentChanges }) {
  if (isOurs(document) && contentChanges.length > 0) {
    client?.tell('textDocument/didChange', {
      textDocument: { ...idOf(document), version: document.version },
      contentChanges: contentChanges.map(({ range, text }) => ({ range: plainRange(range), text })),
    });
  }
}

const plainRange = ({ start, end }) => ({ start: plainPosition(start), end: plainPosition(end) });
const plainPosition = ({ line, character }) => ({ line, character });
const rangeOf = ({ start, end }) => new vscode.Range(start.line, start.character, end.line, end.character);
const locationOf = ({ uri, range }) => new vscode.Location(vscode.Uri.parse(uri), rangeOf(range));

function showProblems({ uri, diagnostics }) {
  const shown = diagnostics.map(({ range, message, severity, source, code }) => {
    // The protocol counts severities from 1, the editor from 0.
    const problem = new vscode.Diagnostic(rangeOf(range), message, severity - 1);
    return Object.assign(problem, { source, code });
  });
  problems.set(vscode.Uri.parse(uri), shown);
}

/** What the editor asks, in the order of its menus. */
function register({ ask, legend }) {
  const at = (document, position) => ({ textDocument: idOf(document), position: plainPosition(position) });
  const { languages } = vscode;
  return [
    languages.registerCompletionItemProvider(
      LANGUAGE,
      {
        async provideCompletionItems(document, position, token) {
          const items = await ask('textDocument/completion', at(document, position), token);
          return items.map(({ label, kind, documentation, textEdit }) => {
            const item = new vscode.CompletionItem(label, kind - 1);
            item.documentation = new vscode.MarkdownString(documentation.value);
            item.range = rangeOf(textEdit.range);
            item.insertText = textEdit.newText;
            return item;
          });
        },
      },
      '$',
      '@',
      '=',
      '/',
    ),
    languages.registerHoverProvider(LANGUAGE, {
      async provideHover(document, position, token) {
        const found = await ask('textDocument/hover', at(document, position), token);
        return found === null ? undefined : new vscode.Hover(new vscode.MarkdownString(found.contents.value), rangeOf(found.range));
      },
    }),
    languages.registerDefinitionProvider(LANGUAGE, {
      provideDefinition: async (document, position, token) =>
        (await ask('textDocument/definition', at(document, position), token)).map(locationOf),
    }),
    languages.registerReferenceProvider(LANGUAGE, {
      provideReferences: async (document, position, context, token) =>
        (await ask('textDocument/references', { ...at(document, position), context }, token)).map(locationOf),
    }),
    languages.registerRenameProvider(LANGUAGE, {
      provideRenameEdits: async (document, position, newName, token) =>
        editOf(await ask('textDocument/rename', { ...at(document, position), newName }, token)),
    }),
    languages.registerDocumentFormattingEditProvider(LANGUAGE, {
      async provideDocumentFormattingEdits(document, options, token) {
        const edits = await ask('textDocument/formatting', { textDocument: idOf(document), options: { ...options } }, token);
        return edits.map(({ range, newText }) => new vscode.TextEdit(rangeOf(range), newText));
      },
    }),
    languages.registerDocumentSymbolProvider(LANGUAGE, {
      provideDocumentSymbols: async (document, token) =>
        (await ask('textDocument/documentSymbol', { textDocument: idOf(document) }, token)).map(symbolOf),
    }),
    languages.registerCodeActionsProvider(
      LANGUAGE,
      {
        async provideCodeActions(document, range, context, token) {
          const diagnostics = context.diagnostics.map((problem) => ({ range: plainRange(problem.range), message: problem.message }));
          const params = { textDocument: idOf(document), range: plainRange(range), context: { diagnostics } };
          const actions = await ask('textDocument/codeAction', params, token);
          return actions.map(({ title, isPreferred, edit, diagnostics: [mended] }) => {
            const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
            action.edit = editOf(edit);
            action.isPreferred = isPreferred;
            action.diagnostics = context.diagnostics.filter(({ message }) => message === mended.message);
            return action;
          });
        },
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
    languages.registerDocumentSemanticTokensProvider(
      LANGUAGE,
      {
        async provideDocumentSemanticTokens(document, token) {
          const { data } = await ask('textDocument/semanticTokens/full', { textDocument: idOf(document) }, token);
          return new vscode.SemanticTokens(new Uint32Array(data));
        },
      },
      new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers),
    ),
  ];
}

function editOf({ changes }) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(changes)) {
    for (const { range, newText } of edits) {
      edit.replace(vscode.Uri.parse(uri), rangeOf(range), newText);
    }
  }
  return edit;
}

function symbolOf({ name, detail, kind, range, selectionRange, children }) {
  const symbol = new vscode.DocumentSymbol(name, detail, kind - 1, rangeOf(range), rangeOf(selectionRange));
  symbol.children = children.map(symbolOf);
  return symbol;
}
