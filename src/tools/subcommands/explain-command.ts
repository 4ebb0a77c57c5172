import { EXIT } from '../../master/command-line/exit-codes.js';
import type { ProcessConf } from '../../shared/config/configuration.js';
import type { Logger } from '../../shared/log/error-log.js';
import { EMERG, type Level } from '../../shared/log/level.js';
import { byteText } from '../../shared/text/native-text.js';
import { unpackTrace } from '../../worker/http/trace/trace-text.js';
import { dropRights, enterDirectory, FatalSettings } from '../../worker/process-settings.js';
import { loadConfiguration } from '../configuration.js';
import {
  type AskedRequest,
  complete,
  headerOf,
  parseCurl,
  parseLogLine,
  parseWords,
  RequestError,
  type RequestParts,
  shellWords,
} from '../explain/explain-request.js';
import { ExplainText, type OriginatedField, paint } from '../explain/explain-text.js';
import { readersOf, usualPort } from '../explain/rehearsed-places.js';
import { Rehearsal, RehearsalError, type Rehearsed } from '../rehearsal/rehearsal.js';
import type { StubBackend } from '../rehearsal/stub-backend.js';
import type { SubcommandValues } from './command.js';
import { tellConfigErrors } from './config-errors.js';
import { serverOptions, textValue } from './server-options.js';

/** Runs `sluice explain URL|REQUEST`; resolves to the exit code. */
export async function runExplainCommand(values: SubcommandValues): Promise<number> {
  const traced = textValue(values, 'trace');
  if (traced !== undefined) {
    return showTrace(traced, values);
  }
  let rehearsal: Rehearsal | undefined;
  try {
    const { snapshot, process: settings } = await loadConfiguration(serverOptions(values, undefined));
    rehearsal = new Rehearsal(snapshot);
    becomeWorker(settings);
    const asked = requestOf(values, rehearsal);
    const outcome = await rehearsal.run(asked.request, { ...asked.options, stub: stubOf(values) });
    const headers = outcome.response.headers.map(
      ([name, value]): OriginatedField => ({ name, value, ...rehearsal!.originOf(name, outcome) }),
    );
    const folder = snapshot.confPrefix;
    const shorten = (file: string): string => (file.startsWith(folder) ? file.slice(folder.length) : file);
    const text =
      values.json === true
        ? `${JSON.stringify(jsonOf(asked, outcome, headers), null, 2)}\n`
        : new ExplainText(paint(wantsColours(values)), shorten, values.all === true).show(asked, outcome, headers);
    process.stdout.write(text, 'latin1');
    return EXIT.OK;
  } catch (error) {
    return report(error);
  } finally {
    rehearsal?.close();
  }
}

/** Shows what a running server has told of a request. */
function showTrace(header: string, values: SubcommandValues): number {
  const trace = unpackTrace(header.replace(/^.*:\s*/s, '').trim());
  if (trace === undefined) {
    process.stderr.write('sluice: explain: this is no value of X-Sluice-Trace\n');
    return EXIT.USAGE;
  }
  const text =
    values.json === true
      ? `${JSON.stringify(trace, null, 2)}\n`
      : new ExplainText(paint(wantsColours(values)), (file) => file, values.all === true).live(trace);
  process.stdout.write(text, 'latin1');
  return EXIT.OK;
}

function report(error: unknown): number {
  if (error instanceof RequestError || error instanceof RehearsalError) {
    process.stderr.write(`sluice: explain: ${error.message}\n`, 'latin1');
    return error instanceof RequestError ? EXIT.USAGE : EXIT.NO;
  }
  return tellConfigErrors(error);
}

/** Files are found as workers would find them: with their rights, from their folder. */
function becomeWorker(settings: ProcessConf): void {
  const log: Logger = {
    level: EMERG,
    log: (_level: Level, message: string) => void process.stderr.write(`sluice: explain: ${message}\n`, 'latin1'),
  };
  try {
    dropRights(settings, log);
    enterDirectory(settings, log);
  } catch (error) {
    if (!(error instanceof FatalSettings)) {
      throw error;
    }
  }
}

const listOf = (values: SubcommandValues, name: string): readonly string[] => {
  const value = values[name];
  return value === undefined || typeof value === 'boolean' ? [] : typeof value === 'string' ? [value] : value;
};

/** The request that the command line asks for. */
function requestOf(values: SubcommandValues, rehearsal: Rehearsal): AskedRequest {
  const words = listOf(values, 'request').map(byteText);
  const curl = listOf(values, 'curl').map(byteText);
  const line = textValue(values, 'from');
  let parts: RequestParts;
  if (line !== undefined) {
    parts = parseLogLine(line.trim(), readersOf(rehearsal));
  } else if (values.curl !== undefined) {
    parts = parseCurl(curl);
  } else if (words.length === 1 && /^\s*\$?\s*curl\s/.test(words[0]!)) {
    parts = parseCurl(shellWords(words[0]!.replace(/^\s*\$?\s*curl/, '')));
  } else if (words.length === 0) {
    throw new RequestError('there is no request: give a URL, a path, a curl command or --from (`sluice explain --help` says more)');
  } else {
    parts = parseWords(words);
  }
  const headers = listOf(values, 'header').flatMap((text) => headerOf(byteText(text)));
  const replaced = new Set(headers.map(([name]) => name.toLowerCase()));
  return complete(
    {
      ...parts,
      method: textValue(values, 'method') ?? parts.method,
      headers: [...parts.headers.filter(([name]) => !replaced.has(name.toLowerCase())), ...headers],
      body: textValue(values, 'data') ?? parts.body,
      address: textValue(values, 'address') ?? parts.address,
      tls: values.tls === true ? true : parts.tls,
    },
    usualPort(rehearsal),
  );
}

function stubOf(values: SubcommandValues): StubBackend {
  const word = textValue(values, 'backend') ?? '200';
  if (word === 'refused' || word === 'timeout' || word === 'reset') {
    return (_peer, request) => (word === 'refused' || request !== undefined ? { fails: word } : {});
  }
  const status = Number(word);
  if (!/^[1-9]\d\d$/.test(word)) {
    throw new RequestError('--backend is a status, or one of refused, timeout and reset');
  }
  return () => ({
    status,
    headers: [['Content-Type', 'text/html']],
    body: status === 204 || status === 304 ? '' : 'what the backend answers\n',
  });
}

/** Colours are for terminals; https://no-color.org and FORCE_COLOR have the last word. */
function wantsColours(values: SubcommandValues): boolean {
  if (values.color === true) {
    return true;
  }
  const { NO_COLOR, FORCE_COLOR } = process.env;
  return NO_COLOR === undefined && (process.stdout.isTTY === true || (FORCE_COLOR !== undefined && FORCE_COLOR !== '0'));
}

/** The whole story for programs. */
function jsonOf({ request, options }: AskedRequest, outcome: Rehearsed, headers: readonly OriginatedField[]): object {
  const { response, trace, upstreamRequests, logLines, errors, ...rest } = outcome;
  return {
    request: {
      ...request,
      to: { host: options.host, port: options.port, tls: options.tls ?? false },
      from: options.address ?? '127.0.0.1',
    },
    ...rest,
    response: { status: response.status, reason: response.reason, headers, bodyBytes: response.body.length },
    upstreamRequests: upstreamRequests.map(({ body, ...each }) => ({ ...each, bodyBytes: body.length })),
    logLines,
    errors,
    steps: trace,
  };
}
