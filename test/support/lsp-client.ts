import { spawn } from 'node:child_process';
import type { Test } from 'tap';
import {
  createProtocolConnection,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { serverCommand } from './binary.js';

/** A file's diagnostics as the server sent them last. */
interface Shown {
  readonly range: { readonly start: { readonly line: number; readonly character: number }; readonly end: unknown };
  readonly severity?: number;
  readonly message: string;
  readonly code?: unknown;
}

/** The protocol's own client, connected to `sluice lsp`. */
export interface LspClient {
  readonly connection: ProtocolConnection;
  /** Resolves to the diagnostics of a file that come next and that fit. */
  diagnostics(uri: string, fits: (shown: readonly Shown[]) => boolean): Promise<readonly Shown[]>;
  /** Says shutdown and exit; resolves to the exit code. */
  end(): Promise<number | null>;
}

/** Starts the language server and makes the protocol's handshake. */
export async function startLsp(t: Test, options: { readonly args?: readonly string[]; readonly main?: string } = {}): Promise<LspClient> {
  const [command, ...first] = serverCommand();
  const child = spawn(command, [...first, 'lsp', ...(options.args ?? [])], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  t.teardown(() => child.kill('SIGKILL'));
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const waiting = new Set<() => void>();
  const shown = new Map<string, readonly Shown[]>();
  connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }: { uri: string; diagnostics: readonly Shown[] }) => {
    shown.set(uri, diagnostics);
    for (const look of waiting) {
      look();
    }
  });
  connection.listen();
  await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    initializationOptions: { main: options.main },
  });
  await connection.sendNotification('initialized', {});
  return {
    connection,
    diagnostics: (uri, fits) =>
      new Promise((done) => {
        const look = (): void => {
          const found = shown.get(uri);
          if (found !== undefined && fits(found)) {
            waiting.delete(look);
            done(found);
          }
        };
        waiting.add(look);
        look();
      }),
    async end() {
      await connection.sendRequest('shutdown');
      await connection.sendNotification('exit');
      return ended;
    },
  };
}
