// The only file that imports yargs. It takes 80 ms to load, so nothing that serves or signals comes through here: nginx's own options are
// read by cli.ts. The build makes it a file of its own:
// yargs is an ES module, which the script that the rest is made into cannot load.
import type { Argv } from 'yargs';
import { UsageError } from '../../master/command-line/cli.js';
import { EXIT } from '../../master/command-line/exit-codes.js';
import type { ServerStart, Subcommand, SubcommandOption, SubcommandValues } from './command.js';
import { plainOptions } from './plain-options.js';

/**
 * Runs one of the subcommands, or the long help; resolves to the exit code, or to the server that is to be started.
 * `version`: what `--version` says.
 */
export async function runSubcommand(
  args: readonly string[],
  subcommands: readonly Subcommand[],
  version: string,
): Promise<number | ServerStart> {
  const { default: yargs } = await import('yargs');
  let outcome: number | ServerStart = 0;
  const verbatim = subcommands.find(({ name }) => name === args[0])?.verbatim;
  const cut = verbatim === undefined ? -1 : args.indexOf(verbatim, 1);
  const rest = cut === -1 ? {} : { [verbatim!]: args.slice(cut + 1) };
  let parser: Argv = yargs(cut === -1 ? [...args] : args.slice(0, cut))
    .scriptName('sluice')
    .usage('$0 [options]\n$0 <directory>\n$0 <command> ...')
    .strict()
    .version(version);
  for (const { name, describe, takes } of plainOptions) {
    const choices = Array.isArray(takes) ? { choices: takes } : {};
    parser = parser.option(name, { describe, type: takes === undefined ? 'boolean' : 'string', global: false, ...choices });
  }
  for (const subcommand of subcommands) {
    parser = addCommand(parser, subcommand, rest, (result) => {
      outcome = result;
    });
  }
  parser.fail((message, error) => {
    // What is thrown is no fault of the command line. Throwing keeps the command from running.
    throw error ?? new UsageError(message);
  });
  try {
    await parser.parseAsync();
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error;
    }
    const command = subcommands.find(({ name }) => name === args[0]);
    process.stderr.write(`sluice: ${command === undefined ? '' : `${command.name}: `}${plainMessage(error.message, command)}\n`);
    return EXIT.USAGE;
  }
  return outcome;
}

/** Says in one line what a command line lacks. */
function plainMessage(message: string, command: Subcommand | undefined): string {
  if (!message.startsWith('Not enough non-option arguments') || command === undefined) {
    return message;
  }
  const lacking = command.options.filter(({ positional, required }) => positional && required);
  return `${lacking.map(({ name, describe }) => `the ${name} is missing: ${describe}`).join('; ')} (\`sluice ${command.name} --help\` says more)`;
}

/** `rest`: values that yargs has not seen. */
function addCommand(
  parser: Argv,
  { name, describe, options, run }: Subcommand,
  rest: SubcommandValues,
  done: (outcome: number | ServerStart) => void,
): Argv {
  const words = options.flatMap((option) => (option.positional ? [placeholder(option)] : []));
  return parser.command({
    command: [name, ...words].join(' '),
    describe,
    builder(command: Argv) {
      for (const { name: word, alias, describe: text, positional, many, flag, required } of options) {
        const type = flag ? 'boolean' : 'string';
        if (positional) {
          command.positional(word, { describe: text, type: 'string', ...(many === undefined ? {} : { array: true }) });
        } else {
          command.option(word, { describe: text, type, demandOption: required ?? false, ...(alias === undefined ? {} : { alias }) });
        }
      }
      return command;
    },
    async handler(values) {
      done(await run({ ...(values as SubcommandValues), ...rest }));
    },
  });
}

function placeholder({ name, required, many }: SubcommandOption): string {
  const word = many ? `${name}..` : name;
  return required ? `<${word}>` : `[${word}]`;
}
