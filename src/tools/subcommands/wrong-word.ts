import { ownValue } from '../../shared/collection/own-value.js';
import { suggest } from '../../shared/config/suggest.js';

/** What to type instead of words that other servers' commands have. */
const INSTEAD: Readonly<Record<string, string>> = {
  start: '`sluice` starts the server, `sluice run` in the foreground; with a configuration of its own: `sluice -c FILE`',
  stop: '`sluice -s quit` lets requests finish, `sluice -s stop` ends at once',
  quit: '`sluice -s quit` lets requests finish, and ends the server',
  reload: '`sluice -s reload` takes over a changed configuration',
  reopen: '`sluice -s reopen` opens the log files anew',
  restart: '`sluice -s reload` takes over a changed configuration; `sluice -s quit`, then `sluice`, starts the server anew',
  test: '`sluice -t` tests the configuration, `sluice -t -c FILE` another one',
  check: '`sluice -t` tests the configuration, `sluice -t -c FILE` another one',
  configtest: '`sluice -t` tests the configuration, `sluice -t -c FILE` another one',
  version: '`sluice -v` shows the version, `sluice -V` what is built in',
  logs: 'the logs are where `error_log` and `access_log` say; `sluice -h` shows the place of the error log',
};
const SYNONYMS: Readonly<Record<string, string>> = {
  'force-reload': 'reload',
  validate: 'test',
  'try-restart': 'restart',
  up: 'start',
  down: 'stop',
};

/**
 * Lines below nginx's message for a first word that is none of our commands, or the empty text. Text has a character for a byte;
 * `commands` are the words that are.
 */
export function wrongWordHint(word: string, commands: readonly string[]): string {
  if (word.startsWith('-')) {
    return '';
  }
  const meant = suggest(word, ['help', ...commands]);
  const hint =
    ownValue(INSTEAD, ownValue(SYNONYMS, word) ?? word) ??
    (meant === undefined ? undefined : `did you mean \`sluice ${meant}\`?`) ??
    '`sluice DIRECTORY` serves a folder that is there, `sluice help` lists the commands';
  return `    hint: ${hint}\n`;
}
