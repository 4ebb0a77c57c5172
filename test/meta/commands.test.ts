// Every command line `sluice ...` on the pages names options and commands that there are. Harmless ones are run.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseCommandLine } from '../../src/master/command-line/cli.js';
import { subcommands } from '../../src/tools/subcommands/subcommand.js';
import { runCli } from '../support/run-cli.js';
import { blocksOf, pages } from './doc-pages.js';
import { root } from './source-files.js';

/** Commands of which only the form is checked, and why they are not run. */
const NOT_RUN: readonly [RegExp, string][] = [
  [/^(run|proxy|serve|\.\/\S+)\b/, 'serves until it is ended; test/process/serve-command.test.ts runs it'],
  [/^(status|cache)\b/, 'needs a running server; test/process/commands.test.ts and test/modules/cache.test.ts run it'],
  [/^logs\b/, 'reads logs; test/process/logs.test.ts runs it'],
  [/^(trust|lsp|format|lint|test)\b/, 'changes the system, serves an editor or works on files; test/process/ has a test of each'],
  [/^migrate\b/, 'reads a configuration of nginx; test/process/migrate.test.ts runs it'],
  [/^-/, 'starts, tests or signals the installed server; test/process/cli.test.ts runs it'],
];

/** The command lines of a block of shell text, without comments and what they are piped into. */
function commandsOf(page: string): string[][] {
  const lines = blocksOf(page, 'sh').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
  return lines.flatMap((line) => {
    const [, rest] = /^(?:npx )?sluice +(.*?)(?: +#.*| +[|>].*)?$/.exec(line.trim()) ?? [];
    return rest === undefined ? [] : [[...rest.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')];
  });
}

const optionsOf = new Map<string, Promise<string>>();
/** The help of a command, with all its options. */
function help(command: string): Promise<string> {
  const known = optionsOf.get(command) ?? runCli(['help', command]).then(({ stdout }) => stdout);
  optionsOf.set(command, known);
  return known;
}

let seen = 0;
for (const page of pages) {
  const commands = commandsOf(page);
  if (commands.length === 0) {
    continue;
  }
  t.test(page, async (t) => {
    for (const args of commands) {
      const line = `sluice ${args.join(' ')}`;
      seen++;
      const [first = ''] = args;
      if (first.startsWith('-')) {
        t.doesNotThrow(() => parseCommandLine(args), line);
      } else if (!['help', 'completion'].includes(first)) {
        const command = subcommands.some(({ name }) => name === first) ? first : 'serve';
        const text = await help(command);
        for (const option of args.slice(1).filter((arg) => arg.startsWith('-'))) {
          t.match(text, new RegExp(`(^|[ ,])${option.replace(/=.*/, '')}[ ,]`, 'm'), `${line}: ${option}`);
        }
      }
      if (!NOT_RUN.some(([form]) => form.test(args.join(' '))) || args.includes('--print-config')) {
        const { code, stderr } = await runCli(args.map((arg) => (arg === './public' ? '.' : arg)));
        t.equal(code, 0, `${line}: ${stderr}`);
      }
    }
  });
}

t.test('there are command lines', async (t) => t.ok(seen > 10, `${seen}`));

t.test('the manual page and README name every command', async (t) => {
  const page = readFileSync(`${root}packaging/sluice.8`, 'utf8');
  const [, synopsis, commands] = /\.SH SYNOPSIS\n([\s\S]*?)\.SH[\s\S]*?\.SH COMMANDS\n([\s\S]*?)\.SH/.exec(page)!;
  const readme = readFileSync(`${root}README.md`, 'utf8');
  for (const { name } of subcommands) {
    if (name !== 'serve') {
      t.match(synopsis!, new RegExp(`^\\.B sluice ${name}$`, 'm'), `synopsis: ${name}`);
    }
    t.match(commands!, name === 'serve' ? /sluice serve/ : new RegExp(`^\\.TP\\n\\.(B|BI|BR) "?${name}\\b`, 'm'), `commands: ${name}`);
    if (!['serve', 'lsp', 'trust', 'cache', 'format'].includes(name)) {
      t.match(readme, new RegExp(`\\bsluice ${name}\\b`), `README.md: ${name}`);
    }
  }
  // What the page has and the program has not.
  const known = [...subcommands.map(({ name }) => name), 'completion', 'help'];
  for (const [, name] of synopsis!.matchAll(/^\.B sluice (\S+)/gm)) {
    t.ok(known.includes(name!), name!);
  }
});
