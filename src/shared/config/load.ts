import { lookupHost } from '../address/lookup-host.js';
import { isIpWithoutZone } from '../address/zone-id.js';
import type { Subject } from '../value/subject.js';
import { VariableTable } from '../value/variables.js';
import type { ZoneRef } from '../zone/kind.js';
import { applyNodes, ConfigBuilder, tableOf } from './apply.js';
import type { Block } from './block.js';
import type { Snapshot } from './configuration.js';
import type { LinkContext, Scope } from './define.js';
import { ConfigError, closingPos, type Diagnostic } from './errors.js';
import { zoneHint } from './hints.js';
import { commandLine, type Pos, type RelatedPosition } from './language/ast.js';
import type { Language } from './language-contract.js';
import { mergeBlocks, visitMerged } from './merge.js';
import type { FileVersion, NamedFiles } from './named-files.js';
import { judgeNativeModules } from './native-modules.js';
import type { Provenance } from './provenance.js';
import { Registry } from './registry.js';
import { diskSources, type KeptTexts, type Sources, snapshotSources } from './sources.js';
import { suggest } from './suggest.js';
import type { ZoneTable } from './zone-table.js';

/** A configuration that was read, merged and checked. */
export interface Loaded<R extends Subject> {
  readonly root: Block;
  readonly registry: Registry<R>;
  readonly tables: { readonly http: VariableTable<R>; readonly stream: VariableTable<R> };
  readonly zones: ZoneTable;
  readonly sources: Sources;
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  readonly warnings: readonly Diagnostic[];
  readonly logFiles: readonly string[];
  readonly folders: readonly string[];
  /** See {@link ConfigContext.transparent}. */
  readonly transparent: boolean;
  /** The settings in force at a block, for a scope of that level. */
  settings<C extends object>(scope: Scope<C, R>, block: Block): Readonly<C>;
}

/** Everything wrong with a configuration, in the order of the text. */
export class LoadFailure extends Error {
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly Diagnostic[];
  readonly sources: Sources;
  /** The syntax is right: nginx has printed "syntax is ok" before it finds these errors. */
  readonly parsed: boolean;

  constructor(errors: readonly ConfigError[], warnings: readonly Diagnostic[], sources: Sources, parsed: boolean) {
    super(errors[0]?.message ?? 'invalid configuration');
    this.errors = errors;
    this.warnings = warnings;
    this.sources = sources;
    this.parsed = parsed;
  }
}

/** Where a configuration's text comes from. */
export type Origin = Pick<Snapshot, 'entry' | 'prefix' | 'confPrefix' | 'globals'>;

/** What else a load from disk can be told. */
export interface DiskOptions {
  /** What the configuration before may hand on. */
  readonly inherited?: ReadonlyMap<string, FileVersion>;
  /** Texts that stand in for files on disk. */
  readonly edited?: ReadonlyMap<string, string>;
  /** Texts of an earlier time, which are read in place of all files on disk. */
  readonly kept?: KeptTexts;
  /** Named files that another process has read. */
  readonly piped?: Snapshot['named'];
  /** Learns which directive wrote which setting. */
  readonly provenance?: Provenance;
  /** See {@link LinkContext.testing}. */
  readonly testing?: boolean;
}

/** Reads, checks and links a configuration from disk, as the master does. Throws {@link LoadFailure}. */
export async function loadFromDisk<R extends Subject>(language: Language<R>, origin: Origin & DiskOptions): Promise<Loaded<R>> {
  const sources = diskSources(origin, origin.inherited, origin.edited, origin.kept, origin.piped);
  const draft = read(language, sources, origin, true, origin.provenance);
  const hosts: Record<string, readonly string[]> = {};
  let missing = 0;
  for (const { ref, what, options, errors } of draft.hosts) {
    if (options.needed?.() === false) {
      continue;
    }
    if (hosts[ref.host] === undefined) {
      const addresses = await resolveHost(ref.host);
      if (addresses === undefined) {
        const message = options.message ?? `host not found in ${what} "${options.shown ?? ref.host}"`;
        draft.errors.splice(errors + missing++, 0, new ConfigError(message, ref.pos, { hint: options.hint }));
        continue;
      }
      hosts[ref.host] = addresses;
    }
    ref.addresses = hosts[ref.host]!;
  }
  return link(draft, hosts, true, origin.testing);
}

/** Builds the same configuration from the master's snapshot, as a worker does. */
export function loadFromSnapshot<R extends Subject>(language: Language<R>, snapshot: Snapshot): Loaded<R> {
  const draft = read(language, snapshotSources(snapshot), snapshot, false);
  for (const { ref } of draft.hosts) {
    ref.addresses = snapshot.hosts[ref.host] ?? literal(ref.host) ?? [];
  }
  return link(draft, snapshot.hosts, false);
}

function read<R extends Subject>(
  language: Language<R>,
  sources: Sources,
  origin: Origin,
  checking: boolean,
  provenance?: Provenance,
): ConfigBuilder<R> {
  const http = new VariableTable<R>();
  const stream = new VariableTable<R>();
  language.defineVariables(http, stream);
  const draft = new ConfigBuilder(new Registry(language), sources, origin.prefix, origin.confPrefix, { http, stream }, provenance);
  for (const file of [commandLine, origin.entry]) {
    try {
      applyNodes(draft, draft.root, sources.parse(file));
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      draft.errors.push(error);
    }
  }
  judgeNativeModules(draft, language, checking);
  return draft;
}

function literal(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return isIpWithoutZone(bare) ? [bare] : undefined;
}

async function resolveHost(host: string): Promise<readonly string[] | undefined> {
  const known = literal(host);
  if (known !== undefined) {
    return known;
  }
  try {
    return await lookupHost(host);
  } catch {
    return undefined;
  }
}

function link<R extends Subject>(
  draft: ConfigBuilder<R>,
  hosts: Readonly<Record<string, readonly string[]>>,
  checking: boolean,
  testing = false,
): Loaded<R> {
  const { root, errors, registry, tables } = draft;
  const giveUp = (parsed: boolean): void => {
    if (errors.length > 0) {
      throw new LoadFailure(errors, draft.warnings, draft.sources, parsed);
    }
  };
  giveUp(false);
  mergeBlocks(registry, root, draft.prefix);
  for (const step of ['link', 'linkLast'] as const) {
    visitMerged(registry, root, draft.prefix, step, (scopes, place) => {
      const ctx = new BlockLinkContext(draft, place.block, checking, testing);
      for (const { scope, number } of scopes) {
        try {
          scope[step]!(place.block.merged(number)!, ctx, place);
        } catch (error) {
          if (!(error instanceof ConfigError)) {
            throw error;
          }
          errors.push(error);
        }
      }
    });
  }
  for (const table of [tables.http, tables.stream]) {
    const warn = (message: string, pos: Pos | undefined): void => void draft.warnings.push({ level: 'warn', message, pos });
    table.bind((name, pos) => {
      const meant = suggest(name, table.names());
      errors.push(
        new ConfigError(
          `unknown "${name}" variable`,
          undefined,
          hintAt(pos, meant === undefined ? undefined : `did you mean \`$${meant}\`?`),
        ),
      );
    }, warn);
  }
  // Blocks were complete, for nginx, when their `}` was read; this it misses when the file is read.
  const parsed = errors.length === 0;
  if (root.seen('events') === undefined) {
    errors.push(
      new ConfigError('no "events" section in configuration', undefined, {
        hint: `write \`events { }\` at the top of ${draft.sources.entry}`,
      }),
    );
  }
  for (const zone of draft.zones.all()) {
    if (zone.bytes !== 0) {
      continue;
    }
    const hint = zoneHint(zone, draft.zones, (name) => registry.rows(name) !== undefined);
    errors.push(new ConfigError(`zero size shared memory zone "${zone.name}"`, undefined, hintAt(zone.pos, hint)));
  }
  giveUp(parsed);
  return {
    root,
    registry,
    tables,
    zones: draft.zones,
    sources: draft.sources,
    hosts,
    warnings: draft.warnings,
    logFiles: [...draft.logFiles],
    folders: [...draft.folders],
    transparent: draft.transparent,
    settings: <C extends object>(scope: Scope<C, R>, block: Block) => block.merged(registry.numbered(scope).number) as Readonly<C>,
  };
}

/** What `link` functions are given: one for each block. */
class BlockLinkContext<R extends Subject> implements LinkContext<R> {
  readonly checking: boolean;
  readonly testing: boolean;
  readonly #draft: ConfigBuilder<R>;
  readonly #block: Block;

  constructor(draft: ConfigBuilder<R>, block: Block, checking: boolean, testing: boolean) {
    this.#draft = draft;
    this.#block = block;
    this.checking = checking;
    this.testing = testing;
  }

  get variables(): VariableTable<R> {
    return tableOf(this.#draft, this.#block);
  }

  get zones(): ZoneTable {
    return this.#draft.zones;
  }

  get named(): NamedFiles {
    return this.#draft.sources.named;
  }

  settings<C extends object>(scope: Scope<C, R>, block: Block): Readonly<C> {
    return block.merged(this.#draft.registry.numbered(scope).number) as Readonly<C>;
  }

  logFile(path: string): void {
    this.#draft.logFiles.add(path);
  }

  folder(path: string): void {
    this.#draft.folders.add(path);
  }

  fail(message: string, pos?: Pos | null, related?: readonly RelatedPosition[]): never {
    throw pos === null ? new ConfigError(message) : new ConfigError(message, pos ?? this.#end(), { related });
  }

  warn(message: string, pos?: Pos | null, related: readonly RelatedPosition[] = []): void {
    this.#draft.warnings.push({ level: 'warn', message, pos: pos === null ? undefined : (pos ?? this.#end()), related });
  }

  unknownZone(message: string, zone: ZoneRef<unknown, unknown>, pos: Pos | undefined): never {
    const { registry, zones } = this.#draft;
    const place = zones.all().find(({ name }) => name === zone.name)?.pos;
    throw new ConfigError(
      message,
      pos,
      hintAt(
        place,
        zoneHint(zone, zones, (name) => registry.rows(name) !== undefined),
      ),
    );
  }

  /** The block's last line. */
  #end(): Pos | undefined {
    const { node } = this.#block;
    return node === undefined ? undefined : closingPos(node);
  }
}

/** nginx names no place for these; a person gets it all the same. */
function hintAt(pos: { file: string; line: number; column: number } | undefined, hint: string | undefined): object {
  return {
    ...(hint === undefined ? {} : { hint }),
    ...(pos === undefined ? {} : { related: [{ pos, text: 'it is used here' }] }),
  };
}

/** The only block of a context directly inside another, such as `http` in the file. */
export function blockIn(parent: Block, context: number): Block | undefined {
  return parent.children.find((child) => child.context === context);
}
