// A language server that runs as a child, and what it is asked.
import { spawn } from 'node:child_process';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';

/** Starts `command`, whose first word is the program; `told` gets its notifications by method. */
export async function startClient(command, { main, told, failed }) {
  const child = spawn(command[0], [...command.slice(1), 'lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaint = (complaint + text).slice(-2000);
  });
  let ending = false;
  const ended = new Promise((done) => {
    child.once('error', (error) => done(failed(`sluice cannot be started (${error.message}): install it, or name it in "sluice.command"`)));
    child.once('exit', (code) => done(ending ? undefined : failed(`sluice lsp has ended with code ${code}: ${complaint.trim()}`)));
  });
  child.stdin.on('error', () => {});
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.onError(() => {});
  for (const [method, listener] of Object.entries(told)) {
    connection.onNotification(method, listener);
  }
  connection.listen();
  const started = connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    initializationOptions: main === '' ? {} : { main },
  });
  const result = await Promise.race([started, ended.then(() => undefined)]);
  if (result === undefined) {
    connection.dispose();
    return undefined;
  }
  await connection.sendNotification('initialized', {});
  return {
    legend: result.capabilities.semanticTokensProvider?.legend,
    // An argument that is undefined would count as one.
    ask: (method, params, token) => connection.sendRequest(method, ...(token === undefined ? [params] : [params, token])),
    tell: (method, params) => void connection.sendNotification(method, params),
    async end() {
      ending = true;
      try {
        await connection.sendRequest('shutdown');
        await connection.sendNotification('exit');
        await ended;
      } catch {
        child.kill();
      }
      connection.dispose();
    },
  };
}
