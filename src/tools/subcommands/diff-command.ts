import { EXIT } from '../../master/command-line/exit-codes.js';
import { loadOptions } from '../../master/command-line/places.js';
import { KeptConfigurations } from '../../master/history/kept.js';
import { readRecord } from '../../master/history/record.js';
import type { LoadOptions } from '../../shared/config/configuration.js';
import { LoadFailure } from '../../shared/config/load.js';
import { byteText } from '../../shared/text/native-text.js';
import { loadConfiguration } from '../configuration.js';
import { type Change, compareConfigurations } from '../diff/compare.js';
import { Side } from '../diff/side.js';
import { readReference } from '../editor/reference.js';
import type { SubcommandValues } from './command.js';
import { serverOptions, textValue } from './server-options.js';

/** Exit codes of `sluice diff` are those of diff(1). */
const DIFFERENT = EXIT.NO;
const TROUBLE = EXIT.USAGE;

/** Nobody can say what would change; the message says why. */
class DiffError extends Error {}

/** One of the two configurations, and what it is called. */
interface Named {
  readonly side: Side;
  readonly title: string;
  /** The directives of `-g` that a server was started with. */
  readonly globals?: string;
}

/**
 * Runs `sluice diff`: what a reload would change. Resolves to the exit code: 0 for nothing, 1 for something, 2 when that cannot be said.
 */
export async function runDiffCommand(values: SubcommandValues): Promise<number> {
  try {
    const options = serverOptions(values, undefined);
    const before = await earlier(values, options);
    // A master reloads with the directives that it was started with.
    const globals = values.globals === undefined ? (before.globals ?? options.globals) : options.globals;
    const after: Named = { side: await load({ ...options, globals }), title: options.entry };
    const changes = compareConfigurations(before.side, after.side, defaults());
    const text = values.json === true ? jsonText(before.title, after.title, changes) : plainText(before.title, after.title, changes);
    process.stdout.write(text, 'latin1');
    return changes.length === 0 ? EXIT.OK : DIFFERENT;
  } catch (error) {
    if (error instanceof LoadFailure) {
      for (const { message, pos } of error.errors) {
        process.stderr.write(`sluice: diff: ${message}${pos === undefined ? '' : ` in ${pos.file}:${pos.line}`}\n`, 'latin1');
      }
      return TROUBLE;
    }
    if (error instanceof DiffError) {
      process.stderr.write(`sluice: diff: ${error.message}\n`, 'latin1');
      return TROUBLE;
    }
    throw error;
  }
}

const load = (options: LoadOptions): Promise<Side> => Side.load(options);

/** The configuration to compare with: `--against` names the running one, one that is kept, or a file. */
async function earlier(values: SubcommandValues, options: LoadOptions): Promise<Named> {
  const against = textValue(values, 'against') ?? 'running';
  if (against !== 'running' && !/^\d+$/.test(against)) {
    const conf = against.startsWith('/') ? against : `${byteText(process.cwd())}/${against}`;
    const prefix = textValue(values, 'directory');
    const globals = textValue(values, 'globals');
    const own = loadOptions({
      prefix: prefix ?? conf.slice(0, conf.lastIndexOf('/') + 1),
      conf,
      globals,
      errorLog: undefined,
      signal: undefined,
    });
    // What both name relative to the prefix is the same file.
    return { side: await load({ ...own, prefix: options.prefix }), title: own.entry };
  }
  const folder = textValue(values, 'history') ?? (await loadConfiguration(options)).process.history;
  if (folder === undefined) {
    throw new DiffError('this configuration keeps none of those that served ("configuration_history off"): name a file with --against');
  }
  const record = readRecord(folder);
  const id = against === 'running' ? record?.serving : Number(against);
  if (id === undefined || id === null) {
    throw new DiffError(`"${folder}" does not say which configuration serves: no server has kept one there, or you may not look`);
  }
  const kept = new KeptConfigurations(folder).read(id);
  if (kept === undefined) {
    throw new DiffError(`configuration ${id} is not kept in "${folder}"`);
  }
  const { entry, prefix, confPrefix, globals, globs, named, hosts } = kept.manifest;
  const past = { ...options, entry, prefix, confPrefix, globals, kept: { files: kept.texts, globs } };
  const what = id === record?.serving ? 'the configuration that serves' : 'a configuration that served';
  return { side: await Side.load(past, { named, hosts }), title: `${what} (${id} in ${folder})`, globals };
}

/** The defaults that the reference names, where they are one word or a few. */
function defaults(): (name: string) => string | undefined {
  const { directives } = readReference(new URL('reference.json', import.meta.url));
  return (name) => {
    const values = new Set((directives[name] ?? []).map((section) => /^Default: `([^`]*)`/m.exec(section)?.[1]));
    const [value] = values;
    return values.size === 1 && value !== '-' ? value : undefined;
  };
}

function plainText(before: string, after: string, changes: readonly Change[]): string {
  if (changes.length === 0) {
    return `A reload to ${after} changes nothing.\nCompared with ${before}.\n`;
  }
  const lines = [`--- ${before}`, `+++ ${after}`];
  let subject = '';
  let location: string | undefined;
  for (const change of changes) {
    if (change.subject !== subject) {
      subject = change.subject;
      location = undefined;
      lines.push('', subject);
    }
    if (change.location !== location) {
      location = change.location;
      lines.push(`  ${location ?? 'the server'}`);
    }
    lines.push(`${location === undefined ? '  ' : '    '}${change.mark} ${change.text}`);
  }
  return `${lines.join('\n')}\n\n${changes.length} change${changes.length === 1 ? '' : 's'}\n`;
}

function jsonText(before: string, after: string, changes: readonly Change[]): string {
  const kinds = { '+': 'added', '-': 'removed', '~': 'changed' } as const;
  const all = changes.map(({ subject, location, mark, name, from, to, text }) => ({
    subject,
    ...(location === undefined ? {} : { location }),
    kind: kinds[mark],
    name,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    text,
  }));
  const document = { before, after, changes: all };
  return `${Buffer.from(JSON.stringify(document, undefined, 2), 'latin1').toString('latin1')}\n`;
}
