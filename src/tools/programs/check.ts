import { ServeError } from '../subcommands/serve-text.js';
import { type ConfigurationOptions, checkOptions } from './options.js';
import { makeProgramPlace } from './place.js';
import { runProgram } from './program.js';

/** The port of a configuration that is made to be looked at. */
const SOME_PORT = 8080;

/** One thing that `sluice -t` says. */
export interface ConfigFinding {
  readonly level: 'emerg' | 'alert' | 'crit' | 'error' | 'warn' | 'notice';
  readonly message: string;
  /** Undefined where the message has no place, and where the file is the text that was given. */
  readonly file?: string;
  readonly line?: number;
}

/** What a test of a configuration came to. */
export interface ConfigResult {
  /** A server would start with it. */
  readonly ok: boolean;
  readonly findings: readonly ConfigFinding[];
}

/** Tests a configuration as `sluice -t` does. Rejects with {@link ServeError} for options that make no sense. */
export async function testConfig(options: ConfigurationOptions): Promise<ConfigResult> {
  checkOptions('testConfig', options, false);
  const place = makeProgramPlace(options, SOME_PORT);
  try {
    const { code, errors } = await runProgram([...place.args, '-e', '/dev/null', '-t']);
    return { ok: code === 0, findings: errors.split('\n').flatMap((line) => findingOf(line, place.file)) };
  } finally {
    place.remove();
  }
}

function findingOf(line: string, own: string | undefined): ConfigFinding[] {
  const found = /^sluice: \[(emerg|alert|crit|error|warn|notice)\] (.*?)(?: in (\/.*?):(\d+))?$/.exec(line);
  if (found === null) {
    return [];
  }
  const [, level, message, file, at] = found;
  return [
    {
      level: level as ConfigFinding['level'],
      message: message!,
      ...(file === undefined || file === own ? {} : { file }),
      ...(at === undefined ? {} : { line: Number(at) }),
    },
  ];
}

/** A request for {@link explain}. */
export interface ExplainedRequest {
  /** A URL, or a path. */
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client's address; 127.0.0.1 unless given. */
  readonly address?: string;
  /** What backends answer: a status, or `refused`, `timeout` or `reset`; 200 unless given. */
  readonly backend?: number | string;
}

/** What would become of a request; the JSON of `sluice explain --json`, which has more. */
export interface Explanation {
  readonly request: Readonly<Record<string, unknown>>;
  readonly response: {
    readonly status: number;
    readonly reason: string;
    readonly headers: readonly { readonly name: string; readonly value: string }[];
    readonly bodyBytes: number;
  };
  readonly steps: readonly unknown[];
  readonly upstreamRequests: readonly unknown[];
  readonly logLines: readonly unknown[];
  readonly errors: readonly unknown[];
  readonly [name: string]: unknown;
}

/**
 * Says what would become of a request, without sending it. Rejects with {@link ServeError} for a request or options that make no sense, and
 * for a configuration that cannot be used.
 */
export async function explain(request: string | ExplainedRequest, options: ConfigurationOptions): Promise<Explanation> {
  checkOptions('explain', options, false);
  const asked = typeof request === 'string' ? { url: request } : request;
  if (typeof asked?.url !== 'string' || !/^(?:https?:\/)?\//i.test(asked.url)) {
    throw new ServeError('explain takes a URL, a path, or an object with such a "url"');
  }
  const { url, method, headers = {}, body, address, backend } = asked;
  const place = makeProgramPlace(options, SOME_PORT);
  try {
    const given = (name: string, value: unknown): string[] => (value === undefined ? [] : [`--${name}=${String(value)}`]);
    const { code, output, errors } = await runProgram([
      'explain',
      url,
      ...place.args,
      '--json',
      ...given('method', method),
      ...given('data', body),
      ...given('address', address),
      ...given('backend', backend),
      ...Object.entries(headers).flatMap(([name, value]) => given('header', `${name}: ${value}`)),
    ]);
    if (code !== 0) {
      throw new ServeError(errors.trim().replace(/^sluice: explain: /, ''));
    }
    return JSON.parse(output) as Explanation;
  } finally {
    place.remove();
  }
}
