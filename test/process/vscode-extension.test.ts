import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no extension');
}

const root = new URL('../../', import.meta.url).pathname;
const require = createRequire(import.meta.url);

/** The files of a ZIP file, by the list at its end. */
function unzip(bytes: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = bytes.readUInt32LE(end + 16);
  for (let n = bytes.readUInt16LE(end + 10); n > 0; n--) {
    const [packed, name] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const local = bytes.readUInt32LE(at + 42);
    const data = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    files.set(bytes.toString('utf8', at + 46, at + 46 + name), inflateRawSync(bytes.subarray(data, data + packed)));
    at += 46 + name + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return files;
}

/** A part of the editor's interface: it keeps what is registered, and makes objects of what it is given. */
function editor(command: readonly string[]) {
  const providers = new Map<string, Record<string, (...args: unknown[]) => Promise<unknown>>>();
  const listeners = new Map<string, (...args: never[]) => void>();
  const shown = new Map<string, { message: string }[]>();
  const errors: string[] = [];
  const register = new Proxy({} as Record<string, unknown>, {
    get: (_, name: string) =>
      name === 'createDiagnosticCollection'
        ? () => ({ set: (uri: { text: string }, all: { message: string }[]) => void shown.set(uri.text, all), clear() {}, dispose() {} })
        : (_selector: unknown, provider: Record<string, () => Promise<unknown>>) => {
            providers.set(name.replace(/^register/, ''), provider);
            return { dispose() {} };
          },
  });
  const made = (kind: string, names: readonly string[]) =>
    class {
      constructor(...args: unknown[]) {
        Object.assign(this, { kind, ...Object.fromEntries(names.map((name, i) => [name, args[i]])) });
      }
    };
  const documents: unknown[] = [];
  const vscode = {
    languages: register,
    commands: { registerCommand: () => ({ dispose() {} }) },
    window: { showErrorMessage: (text: string) => void errors.push(text) },
    workspace: new Proxy({} as Record<string, unknown>, {
      get: (_, name: string) =>
        name === 'getConfiguration'
          ? () => ({ get: (key: string, byDefault: unknown) => (key === 'command' ? command : byDefault) })
          : name === 'textDocuments'
            ? documents
            : name === 'workspaceFolders'
              ? []
              : (listener: () => void) => {
                  listeners.set(name, listener);
                  return { dispose() {} };
                },
    }),
    Uri: { parse: (text: string) => ({ text, toString: () => text }) },
    Range: made('Range', ['startLine', 'startCharacter', 'endLine', 'endCharacter']),
    Location: made('Location', ['uri', 'range']),
    Diagnostic: made('Diagnostic', ['range', 'message', 'severity']),
    CompletionItem: made('CompletionItem', ['label', 'kind']),
    MarkdownString: made('MarkdownString', ['value']),
    Hover: made('Hover', ['contents', 'range']),
    TextEdit: made('TextEdit', ['range', 'newText']),
    DocumentSymbol: made('DocumentSymbol', ['name', 'detail', 'kind', 'range', 'selectionRange']),
    SemanticTokens: made('SemanticTokens', ['data']),
    SemanticTokensLegend: made('SemanticTokensLegend', ['types']),
    CodeAction: made('CodeAction', ['title', 'kind']),
    CodeActionKind: { QuickFix: 'quickfix' },
    WorkspaceEdit: class {
      readonly edits: unknown[] = [];
      replace(...edit: unknown[]): void {
        this.edits.push(edit);
      }
    },
  };
  return { vscode, providers, listeners, shown, errors, documents };
}

t.test('the extension is packed without a network, and works', async (t) => {
  const { dir } = await makePrefix(t, {
    'nginx.conf': 'events {}\nhttp {\n  upstream app { server 127.0.0.1:9; }\n  server { lissten 80; proxy_pass http://app; }\n}\n',
  });
  // Outside of the checkout: whatever it needs is in it.
  const offline = { ...process.env, http_proxy: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1', NODE_OPTIONS: '' };
  execFileSync(process.execPath, [`${root}scripts/package-vscode.mjs`, `${dir}/sluice.vsix`], { env: offline });
  const files = unzip(readFileSync(`${dir}/sluice.vsix`));
  for (const name of [
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/package.json',
    'extension/README.md',
    'extension/LICENSE.txt',
  ]) {
    t.ok(files.has(name), name);
  }
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const manifest = JSON.parse(files.get('extension/package.json')!.toString());
  t.equal(manifest.version, version);
  t.match(files.get('extension.vsixmanifest')!.toString(), `Version="${version}"`);
  for (const path of [manifest.main, manifest.contributes.languages[0].configuration, manifest.contributes.grammars[0].path]) {
    t.ok(files.has(`extension/${path.replace('./', '')}`), path);
  }
  JSON.parse(files.get('extension/nginx.tmLanguage.json')!.toString());
  JSON.parse(files.get('extension/language-configuration.json')!.toString());

  const [command, ...first] = serverCommand();
  const { vscode, providers, listeners, shown, errors, documents } = editor([command!, ...first]);
  mkdirSync(`${dir}/node_modules/vscode`, { recursive: true });
  writeFileSync(`${dir}/node_modules/vscode/index.js`, 'module.exports = globalThis.vscodeOfTheTest;');
  (globalThis as unknown as { vscodeOfTheTest: unknown }).vscodeOfTheTest = vscode;
  writeFileSync(`${dir}/extension.js`, files.get('extension/extension.js')!);
  const extension = require(`${dir}/extension.js`) as { activate(context: unknown): Promise<void>; deactivate(): Promise<void> };
  const uri = pathToFileURL(`${dir}/nginx.conf`).href;
  const text = readFileSync(`${dir}/nginx.conf`, 'utf8');
  const document = { languageId: 'nginx', uri: { scheme: 'file', toString: () => uri }, version: 1, getText: () => text };
  documents.push(document);
  await extension.activate({ subscriptions: [] });
  t.strictSame(errors, []);
  const problem = await waitFor(() => shown.get(uri)?.find(({ message }) => message.includes('lissten')));
  t.match(problem, { severity: 0, source: 'sluice', range: { startLine: 3, startCharacter: 11 } });
  const ask = (kind: string, method: string, ...args: unknown[]): Promise<unknown> => providers.get(kind)![method]!(document, ...args);
  const range = { start: { line: 3, character: 11 }, end: { line: 3, character: 18 } };
  t.match(await ask('CodeActionsProvider', 'provideCodeActions', range, { diagnostics: [{ range, message: problem!.message }] }), [
    { title: 'Change to "listen"', edit: { edits: [[{ text: uri }, { startLine: 3, startCharacter: 11, endCharacter: 18 }, 'listen']] } },
  ]);
  const items = (await ask('CompletionItemProvider', 'provideCompletionItems', { line: 3, character: 13 })) as {
    label: string;
    insertText: string;
  }[];
  t.ok(items.some(({ label, insertText }) => label === 'listen' && insertText === 'listen'));
  t.match(await ask('HoverProvider', 'provideHover', { line: 2, character: 4 }), { contents: { value: /upstream/ } });
  t.match(await ask('DefinitionProvider', 'provideDefinition', { line: 3, character: 42 }), [
    { uri: { text: uri }, range: { startLine: 2 } },
  ]);
  t.match(await ask('RenameProvider', 'provideRenameEdits', { line: 2, character: 12 }, 'pool'), {
    edits: [
      [{}, {}, 'pool'],
      [{}, {}, 'pool'],
    ],
  });
  t.match(await ask('DocumentFormattingEditProvider', 'provideDocumentFormattingEdits', {}), [{ newText: /^http \{\n {4}upstream app/m }]);
  t.match(await ask('DocumentSymbolProvider', 'provideDocumentSymbols'), [
    { name: 'events' },
    { name: 'http', children: [{ name: 'upstream app' }, {}] },
  ]);
  t.match(await ask('DocumentSemanticTokensProvider', 'provideDocumentSemanticTokens'), { data: Uint32Array });
  const changed = listeners.get('onDidChangeTextDocument') as (event: unknown) => void;
  changed({ document: { ...document, version: 2 }, contentChanges: [{ range, text: 'listen' }] });
  await waitFor(() => shown.get(uri)?.every(({ message }) => !message.includes('lissten')));
  await extension.deactivate();
  t.strictSame(errors, []);
});

t.test('a sluice that is not there is told', async (t) => {
  const { dir } = await makePrefix(t);
  execFileSync(process.execPath, [`${root}scripts/package-vscode.mjs`, `${dir}/sluice.vsix`], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { vscode, errors } = editor([`${dirname(dir)}/none/sluice`]);
  mkdirSync(`${dir}/node_modules/vscode`, { recursive: true });
  writeFileSync(`${dir}/node_modules/vscode/index.js`, 'module.exports = globalThis.vscodeOfTheTest;');
  (globalThis as unknown as { vscodeOfTheTest: unknown }).vscodeOfTheTest = vscode;
  writeFileSync(`${dir}/extension.js`, unzip(readFileSync(`${dir}/sluice.vsix`)).get('extension/extension.js')!);
  const extension = require(`${dir}/extension.js`) as { activate(context: unknown): Promise<void>; deactivate(): Promise<void> };
  await extension.activate({ subscriptions: [] });
  await waitFor(() => errors.length > 0);
  t.match(errors[0], /sluice cannot be started .*: install it, or name it in "sluice\.command"/);
  await extension.deactivate();
});
