import { loadOptions } from '../../master/command-line/places.js';
import { byteText } from '../../shared/text/native-text.js';
import { Editor } from '../editor/editor.js';
import { readReference } from '../editor/reference.js';
import { Workspace } from '../editor/workspace.js';
import type { SubcommandValues } from './command.js';
import type { MakeEditor } from './lsp-connection.js';

/** Runs `sluice lsp`, the language server of an editor; resolves to the exit code once the editor has ended it. */
export async function runLspCommand(values: SubcommandValues): Promise<number> {
  const { serveEditor } = await import('./lsp-connection.js');
  const reference = readReference(new URL('reference.json', import.meta.url));
  const given = typeof values.conf === 'string' ? byteText(values.conf) : undefined;
  const make: MakeEditor = (main) => {
    const workspace = new Workspace(main ?? given, (entry) =>
      loadOptions({
        prefix: entry.slice(0, entry.lastIndexOf('/') + 1),
        conf: entry,
        globals: undefined,
        errorLog: undefined,
        signal: undefined,
      }),
    );
    return { editor: new Editor(workspace, reference), workspace };
  };
  return serveEditor(make);
}
