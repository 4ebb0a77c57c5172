import type { Subcommand, SubcommandOption } from './command.js';
import { serveOptions } from './serve-command.js';

/** Which server is meant. */
const SERVER: readonly SubcommandOption[] = [
  { name: 'conf', alias: 'c', describe: 'configuration file' },
  { name: 'directory', alias: 'p', describe: 'prefix path of the server' },
  { name: 'globals', alias: 'g', describe: 'global directives out of the configuration file' },
];

/** ... and on which port, in place of the configuration's. */
const RUN: readonly SubcommandOption[] = [
  ...SERVER,
  { name: 'port', describe: "port to listen on, in place of the configuration's only one" },
];

/** All subcommands. One more is a file and a line here. */
export const subcommands: readonly Subcommand[] = [
  {
    name: 'serve',
    describe: 'serve a folder; `sluice DIRECTORY` does the same',
    options: [
      { name: 'directory', describe: 'the folder; the present one unless given', positional: true },
      ...serveOptions,
      { name: 'spa', describe: 'answer every path that is no file with /index.html', flag: true },
    ],
    run: async (values) => (await import('./serve-command.js')).runServeCommand(values),
  },
  {
    name: 'proxy',
    describe: 'put this server in front of an application',
    options: [{ name: 'target', describe: 'its port, HOST:PORT or URL', positional: true, required: true }, ...serveOptions],
    run: async (values) => (await import('./serve-command.js')).runProxyCommand(values),
  },
  {
    name: 'run',
    describe: 'serve a configuration in the foreground, and say where',
    options: [
      ...RUN,
      { name: 'attached', describe: 'end when standard input ends, as it does with the program that holds its other end', flag: true },
    ],
    run: async (values) => (await import('./run-command.js')).runRunCommand(values),
  },
  {
    name: 'dev',
    describe: 'serve a configuration, and each change of it and of its JavaScript',
    options: RUN,
    run: async (values) => (await import('./dev-command.js')).runDevCommand(values),
  },
  {
    name: 'build',
    describe: 'check the types of the TypeScript that a configuration imports, and bundle its modules',
    options: [
      ...SERVER,
      { name: 'bundle', describe: 'make one file of each module and all that it imports, in this folder' },
      { name: 'external', describe: 'packages that stay outside, NAME[,NAME...]' },
    ],
    run: async (values) => (await import('./build-command.js')).runBuildCommand(values),
  },
  {
    name: 'status',
    describe: 'say what runs: since when, which workers, how many connections',
    options: [
      ...SERVER,
      { name: 'json', describe: 'as one JSON object', flag: true },
      { name: 'watch', alias: 'w', describe: 'show it anew every two seconds', flag: true },
      { name: 'fleet', describe: 'show all machines of the fleet', flag: true },
    ],
    run: async (values) => (await import('./status-command.js')).runStatusCommand(values),
  },
  {
    name: 'logs',
    describe: 'show, follow, filter and sum up access logs',
    options: [
      { name: 'words', describe: 'files, and conditions such as status>=500, host=NAME or path~PATTERN', positional: true, many: true },
      ...SERVER,
      { name: 'follow', alias: 'f', describe: 'show what is added', flag: true },
      { name: 'summary', alias: 's', describe: 'sum up requests, statuses, paths, addresses and reasons of errors', flag: true },
      { name: 'format', describe: 'combined, json or a log_format; as the configuration says unless given' },
    ],
    run: async (values) => (await import('./logs-command.js')).runLogsCommand(values),
  },
  {
    name: 'trust',
    describe: 'print the root certificate of `https internal`, and make this system trust it',
    options: [
      ...SERVER,
      { name: 'print', describe: 'only print it', flag: true },
      { name: 'remove', describe: 'take it out of what the system trusts', flag: true },
    ],
    run: async (values) => (await import('./trust-command.js')).runTrustCommand(values),
  },
  {
    name: 'cache',
    describe: 'list, inspect or purge entries of the response caches',
    options: [
      { name: 'action', describe: 'list, inspect or purge', positional: true, required: true },
      ...SERVER,
      { name: 'zone', describe: 'one cache only, by the name of its keys_zone' },
      { name: 'key', describe: 'the entry with this key, and its variants' },
      { name: 'prefix', describe: 'all entries whose keys begin so' },
      { name: 'tag', describe: 'all entries with this tag, or with one of several' },
      { name: 'soft', describe: 'purge: keep the entries, which are stale from now on', flag: true },
    ],
    run: async (values) => (await import('./cache-command.js')).runCacheCommand(values),
  },
  {
    name: 'migrate',
    describe: 'say how the directives of an nginx configuration are taken here',
    options: [
      { name: 'file', describe: "nginx's main configuration file", positional: true, required: true },
      { name: 'directory', alias: 'p', describe: 'prefix path; the folder of the file unless given' },
      { name: 'json', describe: 'as one JSON object', flag: true },
      { name: 'write', alias: 'w', describe: 'put `nginx_compatibility on;` at the top of the file', flag: true },
    ],
    run: async (values) => (await import('./migrate-command.js')).runMigrateCommand(values),
  },
  {
    name: 'format',
    describe: 'lay configuration files out in one style, as gofmt does for Go',
    options: [
      { name: 'files', describe: 'the files', positional: true, many: true },
      ...SERVER,
      { name: 'check', describe: 'change nothing; list the files that are not in the style, and exit with 1', flag: true },
      { name: 'includes', describe: 'format the files that they include, too', flag: true },
      { name: 'stdin', describe: 'format standard input to standard output', flag: true },
    ],
    run: async (values) => (await import('./format-command.js')).runFormatCommand(values),
  },
  {
    name: 'lint',
    describe: 'find what -t accepts and what is wrong nevertheless',
    options: [
      { name: 'file', describe: 'the main configuration file', positional: true },
      ...SERVER,
      { name: 'json', describe: 'as one JSON object', flag: true },
      { name: 'rules', describe: 'list the rules', flag: true },
    ],
    run: async (values) => (await import('./lint-command.js')).runLintCommand(values),
  },
  {
    name: 'explain',
    describe: 'say what would become of a request, step by step, without sending it',
    options: [
      { name: 'request', describe: 'a URL, a path, METHOD URL, or a command of curl', positional: true, many: true },
      ...SERVER,
      { name: 'method', alias: 'X', describe: "the request's method" },
      { name: 'header', alias: 'H', describe: 'a header, as NAME: VALUE; may stand several times' },
      { name: 'data', alias: 'd', describe: "the request's body" },
      { name: 'address', describe: "the client's address; 127.0.0.1 unless given" },
      { name: 'tls', describe: 'the client speaks TLS', flag: true },
      { name: 'from', describe: 'take the request from this line of an access log' },
      { name: 'trace', describe: 'show a trace that a server has sent: the value of X-Sluice-Trace' },
      { name: 'backend', describe: 'what backends answer: a status (200), or refused, timeout or reset' },
      { name: 'json', describe: 'as one JSON object', flag: true },
      { name: 'all', alias: 'a', describe: 'cut nothing', flag: true },
      { name: 'color', describe: 'with colours, wherever it goes', flag: true },
    ],
    verbatim: 'curl',
    run: async (values) => (await import('./explain-command.js')).runExplainCommand(values),
  },
  {
    name: 'test',
    describe: 'check what becomes of requests, by cases in *.test.conf files',
    options: [
      { name: 'cases', describe: 'files of cases, or folders; those beside the configuration unless given', positional: true, many: true },
      ...SERVER,
      { name: 'tap', describe: 'report in the Test Anything Protocol', flag: true },
      { name: 'junit', describe: 'write a report in the XML of JUnit to this file, too' },
      { name: 'watch', alias: 'w', describe: 'test again whenever a file changes', flag: true },
      { name: 'record', describe: 'write a case of what becomes of this request today' },
      { name: 'from', describe: 'write cases of the requests in this access log' },
    ],
    run: async (values) => (await import('./test-command.js')).runTestCommand(values),
  },
  {
    name: 'diff',
    describe: 'say in words what a reload would change',
    options: [
      ...SERVER,
      { name: 'against', describe: 'what to compare with: running (unless given), the number of a kept configuration, or a file' },
      { name: 'history', describe: 'folder of the configurations that served; as the configuration says unless given' },
      { name: 'json', describe: 'as one JSON object', flag: true },
    ],
    run: async (values) => (await import('./diff-command.js')).runDiffCommand(values),
  },
  {
    name: 'rollback',
    describe: 'go back to a configuration that served before, or list those that are kept',
    options: [
      { name: 'number', describe: 'its number in the list; the one before unless given', positional: true },
      ...SERVER,
      { name: 'list', alias: 'l', describe: 'list what is kept', flag: true },
      { name: 'json', describe: 'the list as one JSON object', flag: true },
      { name: 'history', describe: 'folder of the configurations that served; as the configuration says unless given' },
    ],
    run: async (values) => (await import('./rollback-command.js')).runRollbackCommand(values),
  },
  {
    name: 'completion',
    describe: 'print a script for the shell, which completes options and commands',
    options: [{ name: 'shell', describe: 'bash, zsh or fish; your own unless given', positional: true }],
    run: async (values) => (await import('./completion-command.js')).runCompletionCommand(values, subcommands),
  },
  {
    name: 'lsp',
    describe: "answer an editor's questions about configurations (Language Server Protocol)",
    options: [
      { name: 'conf', alias: 'c', describe: 'main configuration file; looked for beside the open files unless given' },
      { name: 'stdio', describe: 'over standard input and output, as always', flag: true },
    ],
    run: async (values) => (await import('./lsp-command.js')).runLspCommand(values),
  },
];
