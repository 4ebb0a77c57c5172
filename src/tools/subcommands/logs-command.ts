import { EXIT } from '../../master/command-line/exit-codes.js';
import type { Block } from '../../shared/config/block.js';
import { In } from '../../shared/config/context.js';
import { blockIn, LoadFailure, loadFromDisk } from '../../shared/config/load.js';
import { resolvePath } from '../../shared/config/paths.js';
import type { Sources } from '../../shared/config/sources.js';
import { byteText } from '../../shared/text/native-text.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Request } from '../../worker/http/request/request.js';
import { language } from '../../worker/language.js';
import { accessLogScope } from '../../worker/modules/access-log/index.js';
import { COMBINED, type LogFormat } from '../../worker/modules/access-log/settings.js';
import { directivesOf, everything } from '../lint/tree.js';
import { type LogFilter, parseLogFilter } from '../logs/log-filter.js';
import { formatReader, jsonReader, type LineReader } from '../logs/log-line.js';
import { LogSummary } from '../logs/log-summary.js';
import { LogTail } from '../logs/log-tail.js';
import type { SubcommandValues } from './command.js';
import { serverOptions, textValue } from './server-options.js';
import { shownText } from './shown-text.js';

/** How often (milliseconds) a followed file is looked at. */
const LOOK_MS = 250;
/** Output is written in pieces of this size. */
const PIECE = 64 * 1024;

/** `sluice logs`: shows, follows or sums up access logs; resolves to the exit code. */
export async function runLogsCommand(values: SubcommandValues): Promise<number> {
  const words = ((values['words'] as readonly string[] | undefined) ?? []).map((word) => byteText(word));
  const filters: LogFilter[] = [];
  const named: string[] = [];
  for (const word of words) {
    let condition: LogFilter | undefined;
    try {
      condition = parseLogFilter(word);
    } catch (error) {
      return failed(`logs: ${(error as Error).message}`);
    }
    if (condition === undefined) {
      named.push(word);
    } else {
      filters.push(condition);
    }
  }
  const known = await knownLogs(values);
  const files = named.length > 0 ? named : [...known.keys()];
  if (files.length === 0) {
    return failed('logs: no file is named, and the configuration has no access log');
  }
  const summary = values['summary'] === true ? new LogSummary() : undefined;
  const output = new Output();
  const tails: LogTail[] = [];
  for (const file of files) {
    const reader = readerFor(known.get(file), textValue(values, 'format'), known);
    if (reader === undefined) {
      return failed(`logs: unknown log format "${textValue(values, 'format')}"`);
    }
    try {
      tails.push(new LogTail(file, lineHandler(reader, filters, summary, output)));
    } catch (error) {
      return failed(`logs: ${(error as Error).message}`);
    }
  }
  if (values['follow'] === true && summary === undefined) {
    return follow(tails, output);
  }
  for (const tail of tails) {
    tail.read();
    tail.close();
  }
  if (summary !== undefined) {
    for (const line of summary.lines()) {
      output.add(line);
    }
  }
  output.flush();
  return EXIT.OK;
}

function failed(message: string): number {
  process.stderr.write(`sluice: ${message}\n`, 'latin1');
  return EXIT.USAGE;
}

function lineHandler(
  reader: LineReader,
  filters: readonly LogFilter[],
  summary: LogSummary | undefined,
  output: Output,
): (line: string) => void {
  return (line) => {
    const read = reader(line);
    if (read === undefined) {
      summary?.addUnread();
      return;
    }
    if (!filters.every((wanted) => wanted(read))) {
      return;
    }
    if (summary !== undefined) {
      summary.add(read);
    } else {
      output.add(line);
    }
  };
}

/** Shows what is added, until the process is ended. */
function follow(tails: readonly LogTail[], output: Output): Promise<number> {
  for (const tail of tails) {
    tail.skip();
  }
  return new Promise((done) => {
    const look = (): void => {
      for (const tail of tails) {
        tail.follow();
      }
      output.flush();
      setTimer(look, LOOK_MS);
    };
    process.once('SIGINT', () => done(EXIT.OK));
    process.stdout.once('error', () => done(EXIT.OK));
    look();
  }).then((code) => process.exit(code as number));
}

class Output {
  #text = '';

  add(line: string): void {
    this.#text += `${shownText(line)}\n`;
    if (this.#text.length > PIECE) {
      this.flush();
    }
  }

  flush(): void {
    if (this.#text !== '') {
      process.stdout.write(this.#text, 'latin1');
      this.#text = '';
    }
  }
}

/** Reads a file's lines: in the format that is named, in the configuration's, or in the form that its lines show. */
function readerFor(
  format: LogFormat | undefined,
  name: string | undefined,
  known: ReadonlyMap<string, LogFormat | undefined>,
): LineReader | undefined {
  if (name === 'json') {
    return jsonReader;
  }
  const named = name === COMBINED.name ? COMBINED : [...known.values()].find((each) => each?.name === name);
  const chosen = name === undefined ? format : named;
  if (name !== undefined && named === undefined) {
    return undefined;
  }
  if (chosen !== undefined) {
    return formatReader(chosen.parts);
  }
  const combined = formatReader(COMBINED.parts);
  return (line) => (line.startsWith('{') ? jsonReader(line) : combined(line));
}

/** The access logs that are named in a configuration with an error; their lines show their forms. */
function namedLogs(sources: Sources, prefix: string): Map<string, undefined> {
  const logs = [...everything(directivesOf(sources))].filter(({ name, args }) => name === 'access_log' && isFile(args[0]));
  return new Map(logs.map(({ args }) => [resolvePath(args[0]!, prefix), undefined]));
}

const isFile = (path = ''): boolean => path !== 'off' && !path.startsWith('syslog:') && !path.includes('$');

/** The access logs of the configuration with their formats; of one that cannot be loaded, what it says. */
async function knownLogs(values: SubcommandValues): Promise<Map<string, LogFormat | undefined>> {
  const options = serverOptions(values, undefined);
  const all = new Map<string, LogFormat>();
  try {
    const loaded = await loadFromDisk<Request>(language, options);
    const http = blockIn(loaded.root, In.HTTP);
    const visit = (block: Block): void => {
      for (const { to, format } of loaded.settings(accessLogScope, block).access?.logs ?? []) {
        if (to.kind === 'file') {
          all.set(to.path, format);
        }
      }
      for (const child of block.children) {
        if (child.context !== In.UPSTREAM) {
          visit(child);
        }
      }
    };
    if (http !== undefined) {
      visit(http);
    }
  } catch (error) {
    if (!(error instanceof LoadFailure)) {
      throw error;
    }
    return namedLogs(error.sources, options.prefix);
  }
  return all;
}
