import type { Subcommand, SubcommandOption } from './command.js';

/** One of nginx's options, of one letter but for ours. */
export interface PlainOption {
  readonly name: string;
  readonly describe: string;
  /** What it takes: a file or folder, one of these words, or something that nobody can guess; undefined for a switch. */
  readonly takes?: 'file' | 'text' | readonly string[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What the completion of a shell has to know. */
export interface Vocabulary {
  readonly options: readonly PlainOption[];
  readonly commands: readonly Subcommand[];
}

const dashed = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);
const wordsOf = ({ name, alias }: SubcommandOption): string[] => [dashed(name), ...(alias === undefined ? [] : [dashed(alias)])];
const named = (options: readonly SubcommandOption[]): SubcommandOption[] => options.filter(({ positional }) => positional !== true);
/** A text within single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The script that completes command lines in a shell. It asks no program: each answer is there at once. */
export function completionScript(shell: Shell, vocabulary: Vocabulary): string {
  return shell === 'bash' ? bash(vocabulary) : shell === 'zsh' ? zsh(vocabulary) : fish(vocabulary);
}

function bash({ options, commands }: Vocabulary): string {
  const values = options.filter(({ takes }) => Array.isArray(takes));
  const cases = commands.map(({ name, options: own }) => `    ${name}) words=${quoted(named(own).flatMap(wordsOf).join(' '))} ;;`);
  const choices = values.map(
    ({ name, takes }) => `    ${dashed(name)}) COMPREPLY=($(compgen -W ${quoted((takes as string[]).join(' '))} -- "$word")); return ;;`,
  );
  return `# Completion of sluice for bash.
_sluice() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${choices.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) words=${quoted(options.map(({ name }) => dashed(name)).join(' '))} ;;
  esac
  if [ "$COMP_CWORD" = 1 ] && [ "\${word#-}" = "$word" ]; then
    words=${quoted(commands.map(({ name }) => name).join(' '))}
  elif [ "\${word#-}" = "$word" ]; then
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _sluice sluice
`;
}

function zsh({ options, commands }: Vocabulary): string {
  const text = (describe: string): string => describe.replace(/[[\]\\:]/g, '\\$&');
  const plain = options.map(({ name, describe, takes }) => {
    const value =
      takes === undefined ? '' : Array.isArray(takes) ? `:value:(${takes.join(' ')})` : takes === 'file' ? ':file:_files' : ':value:';
    return `      ${quoted(`${dashed(name)}[${text(describe)}]${value}`)}`;
  });
  const cases = commands.map(({ name, options: own }) => {
    const all = named(own).flatMap((option) =>
      wordsOf(option).map((word) => `        ${quoted(`${word}[${text(option.describe)}]${option.flag ? '' : ':value:_files'}`)}`),
    );
    return `    ${name})\n      _arguments '1:command:' \\\n${[...all, "        '*:file:_files'"].join(' \\\n')} ;;`;
  });
  return `#compdef sluice
# Completion of sluice for zsh.
_sluice() {
  local -a commands
  commands=(
${commands.map(({ name, describe }) => `    ${quoted(`${name}:${text(describe)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    _files -/
    return
  fi
  case $words[2] in
${cases.join('\n')}
    *)
      _arguments \\
${[...plain, "      '*:file:_files'"].join(' \\\n')} ;;
  esac
}
if [ "\${funcstack[1]-}" = _sluice ]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`;
}

function fish({ options, commands }: Vocabulary): string {
  const text = (describe: string): string => quoted(describe.replaceAll('\\', '\\\\')).replaceAll("'\\''", "\\'");
  const flag = (name: string): string => (name.length === 1 ? `-s ${name}` : `-l ${name}`);
  const plain = options.map(({ name, describe, takes }) => {
    const value = takes === undefined ? '' : Array.isArray(takes) ? ` -x -a ${quoted(takes.join(' '))}` : takes === 'file' ? ' -r' : ' -x';
    return `complete -c sluice -n __fish_use_subcommand ${flag(name)}${value} -d ${text(describe)}`;
  });
  const ofCommands = commands.flatMap(({ name, describe, options: own }) => [
    `complete -c sluice -n __fish_use_subcommand -a ${name} -d ${text(describe)}`,
    ...named(own).map(
      (option) =>
        `complete -c sluice -n '__fish_seen_subcommand_from ${name}' ${flag(option.name)}${option.alias === undefined ? '' : ` ${flag(option.alias)}`}${option.flag ? '' : ' -r'} -d ${text(option.describe)}`,
    ),
  ]);
  return `# Completion of sluice for fish.\n${[...plain, ...ofCommands].join('\n')}\n`;
}
