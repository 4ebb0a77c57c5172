import type { Snapshot } from './configuration.js';
import { ConfigError, withErrno } from './errors.js';
import { globFiles, hasGlobChars } from './glob.js';
import { IncludeGraph } from './include-graph.js';
import { commandLine, type Node, type Pos } from './language/ast.js';
import { parseConfig } from './language/parser.js';
import { SimpleLines } from './language/simple-lines.js';
import { type FileVersion, NamedFiles } from './named-files.js';
import { readConfigFile } from './read-file.js';

/** Where the configuration's text comes from while it is applied. Each file is read and parsed once, however often it is included. */
export interface Sources {
  readonly entry: string;
  readonly prefix: string;
  readonly confPrefix: string;
  /** Addresses of host names as a snapshot holds them; empty when read from disk. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  /**
   * The tree of one file by its full path; of `-g` for `commandLine`.
   * @param from The include that asks for it: its line goes into the message.
   * @throws ConfigError if the file cannot be read, or includes itself.
   */
  parse(path: string, from?: Pos): readonly Node[];
  /** A file that is included in a free-form block, when all its lines are plain; undefined for others. @throws as `parse` does. */
  lines(path: string, from: Pos): SimpleLines | undefined;
  /**
   * Full paths of the files an include's argument names, in order: a plain name is one file whether it exists or not. nginx:
   * ngx_conf_include
   */
  include(argument: string, from: Pos): readonly string[];
  /** The text of a file that has been read, or of `-g`. */
  text(path: string): string | undefined;
  /** The files read so far, in the order of first reading. */
  readonly order: readonly string[];
  /** Files that are part of the configuration, but not of its text. */
  readonly named: NamedFiles;
  snapshot(hosts: Readonly<Record<string, readonly string[]>>): Snapshot;
}

type Origin = Pick<Snapshot, 'entry' | 'prefix' | 'confPrefix' | 'globals' | 'errorLog'>;

/** The texts of a configuration as they were at an earlier time, and which files its patterns named then. */
export type KeptTexts = Pick<Snapshot, 'files' | 'globs'>;

/**
 * Sources that read from disk, each file and pattern when it is first asked for. `earlier`: see {@link NamedFiles}. `edited`: texts by
 * full path that stand in for those on disk, as an editor has them. `kept`: all texts; only files that settings name are read from disk.
 * `piped`: named files that another process has read.
 */
export function diskSources(
  options: Origin,
  earlier?: ReadonlyMap<string, FileVersion>,
  edited?: ReadonlyMap<string, string>,
  kept?: KeptTexts,
  piped?: Snapshot['named'],
): Sources {
  if (kept !== undefined) {
    return new CachedSources(options, {}, textOf(kept), (pattern) => kept.globs[pattern] ?? [], new NamedFiles({}, earlier));
  }
  const read = (path: string, from: Pos | undefined): string => edited?.get(path) ?? readConfigFile(path, from);
  return new CachedSources(options, {}, read, globFiles, new NamedFiles(piped, earlier));
}

/** Sources that hold what others have read before. */
export function snapshotSources(snapshot: Snapshot): Sources {
  const glob = (pattern: string): readonly string[] => snapshot.globs[pattern] ?? [];
  return new CachedSources(snapshot, snapshot.hosts, textOf(snapshot), glob, new NamedFiles(snapshot.named));
}

/** Reads from texts that others have read. A file that is not among them does not exist. */
function textOf({ files }: KeptTexts): (path: string, from: Pos | undefined) => string {
  return (path, from) => {
    const text = files[path];
    if (text === undefined) {
      throw new ConfigError(withErrno(`open() "${path}" failed`, -2), from);
    }
    return text;
  };
}

class CachedSources implements Sources {
  readonly entry: string;
  readonly prefix: string;
  readonly confPrefix: string;
  readonly hosts: Snapshot['hosts'];
  readonly order: string[] = [];
  readonly named: NamedFiles;
  readonly #globals: string;
  readonly #errorLog: string | undefined;
  readonly #read: (path: string, from: Pos | undefined) => string;
  readonly #glob: (pattern: string) => readonly string[];
  readonly #texts = new Map<string, string>();
  readonly #trees = new Map<string, readonly Node[]>();
  readonly #globs = new Map<string, readonly string[]>();
  readonly #includes = new IncludeGraph();

  constructor(
    origin: Origin,
    hosts: Snapshot['hosts'],
    read: (path: string, from: Pos | undefined) => string,
    glob: (pattern: string) => readonly string[],
    named: NamedFiles,
  ) {
    this.entry = origin.entry;
    this.prefix = origin.prefix;
    this.confPrefix = origin.confPrefix;
    this.hosts = hosts;
    this.#globals = origin.globals;
    this.#errorLog = origin.errorLog;
    this.#read = read;
    this.#glob = glob;
    this.named = named;
  }

  parse(path: string, from?: Pos): readonly Node[] {
    this.#enter(path, from);
    let tree = this.#trees.get(path);
    if (tree === undefined) {
      tree = parseConfig(path === commandLine ? this.#globals : this.#readOnce(path, from), path);
      this.#trees.set(path, tree);
    }
    return tree;
  }

  lines(path: string, from: Pos): SimpleLines | undefined {
    this.#enter(path, from);
    return this.#trees.has(path) ? undefined : SimpleLines.ofFile(this.#readOnce(path, from), path);
  }

  include(argument: string): readonly string[] {
    const name = cString(argument);
    const path = name.startsWith('/') ? name : this.confPrefix + name;
    if (!hasGlobChars(path)) {
      return [path];
    }
    let files = this.#globs.get(path);
    if (files === undefined) {
      files = this.#glob(path);
      this.#globs.set(path, files);
    }
    return files;
  }

  text(path: string): string | undefined {
    return path === commandLine ? this.#globals : this.#texts.get(path);
  }

  snapshot(hosts: Snapshot['hosts']): Snapshot {
    return {
      entry: this.entry,
      prefix: this.prefix,
      confPrefix: this.confPrefix,
      globals: this.#globals,
      errorLog: this.#errorLog,
      files: Object.fromEntries(this.#texts),
      globs: Object.fromEntries(this.#globs),
      named: this.named.texts(),
      hosts,
    };
  }

  #enter(path: string, from: Pos | undefined): void {
    const endless = this.#includes.add(path, from);
    if (endless !== undefined) {
      throw new ConfigError(endless.message, from, { related: endless.related });
    }
  }

  #readOnce(path: string, from: Pos | undefined): string {
    const known = this.#texts.get(path);
    if (known !== undefined) {
      return known;
    }
    const text = this.#read(path, from);
    this.#texts.set(path, text);
    this.order.push(path);
    return text;
  }
}

/** A word as the system sees it: it ends at its first NUL byte. */
function cString(word: string): string {
  const end = word.indexOf('\0');
  return end < 0 ? word : word.slice(0, end);
}
