import type { Configuration, LoadOptions } from '../../shared/config/configuration.js';
import type { Logger } from '../../shared/log/error-log.js';
import { INFO, WARN } from '../../shared/log/level.js';
import { type Kept, KeptConfigurations, type Manifest } from './kept.js';
import { beginningOf, type ReloadReport, readRecord, type ServiceRecord, writeRecord } from './record.js';
import { type ReloadRequest, takeRequests } from './requests.js';

/** What a reload is asked to do, by everybody who has asked since the last one. */
export interface AskedReload {
  readonly tokens: readonly string[];
  /** The last of them; null for a signal of which nobody has said anything. */
  readonly by: string | null;
  /** The kept configuration that is to serve; undefined for the operator's files. */
  readonly rollback: number | undefined;
}

/** A configuration as it was kept, for being loaded. */
export type KeptOrigin = Pick<LoadOptions, 'entry' | 'prefix' | 'confPrefix' | 'globals'> & Required<Pick<LoadOptions, 'kept'>>;

/**
 * What a master writes down of the configurations that it serves. Nothing in here keeps a server from serving: what goes wrong is logged,
 * and the rest goes on.
 */
export class History {
  readonly #log: Logger;
  #kept: KeptConfigurations | undefined;
  #record: ServiceRecord | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The folder; undefined when nothing is kept. */
  get path(): string | undefined {
    return this.#kept?.path;
  }

  /** The number of the configuration that serves; undefined when it is not kept. */
  get serving(): number | undefined {
    return this.#record?.serving ?? undefined;
  }

  /** What was written down of the one that serves; undefined when nothing is kept. */
  get record(): ServiceRecord | undefined {
    return this.#kept === undefined ? undefined : this.#record;
  }

  /** What is kept, without the texts. */
  manifests(): Manifest[] {
    return this.#kept?.all() ?? [];
  }

  /** One with its texts; undefined when it is not there. */
  read(id: number): Kept | undefined {
    return this.#kept?.read(id);
  }

  /** The configuration that serves does so by a rollback. */
  get rolledBack(): boolean {
    return this.#record?.rolledBack ?? false;
  }

  /** The server has started. */
  started(configuration: Configuration): void {
    this.#attempt(() => {
      this.#open(configuration);
      const now = new Date();
      for (const { id, periods } of this.#kept?.all() ?? []) {
        if (periods.at(-1)?.until === null) {
          this.#kept?.end(id, 'its master ended without a word', now);
        }
      }
      this.#serves(configuration, { tokens: [], by: null, rollback: undefined }, undefined, now);
    });
  }

  /** What is asked for. Requests of others than this server's reload are none of its business. */
  take(): AskedReload {
    const requests: ReloadRequest[] = this.#kept === undefined ? [] : takeRequests(this.#kept.path);
    const last = requests.at(-1);
    return { tokens: requests.map(({ token }) => token), by: last?.by ?? null, rollback: last?.rollback };
  }

  /** A kept configuration for being loaded; undefined when it is not there. */
  origin(id: number): KeptOrigin | undefined {
    const kept = this.#kept?.read(id);
    if (kept === undefined) {
      return undefined;
    }
    const { entry, prefix, confPrefix, globals, globs } = kept.manifest;
    return { entry, prefix, confPrefix, globals, kept: { files: kept.texts, globs } };
  }

  /** A reload has got so far that others may want to know. */
  running(asked: AskedReload, text: string): void {
    this.#attempt(() => this.#report(asked, 'running', text));
  }

  /** A reload was refused: the configuration of before serves on. */
  refused(asked: AskedReload, text: string): void {
    this.#attempt(() => this.#report(asked, 'refused', text));
  }

  /** Another configuration serves from now on. `text`: what is to be known about how it came. */
  replaced(configuration: Configuration, asked: AskedReload, text: string): void {
    this.#attempt(() => {
      const now = new Date();
      const [folder, serving] = [this.#kept, this.serving];
      const who = asked.by === null ? '' : ` that ${asked.by} asked for`;
      if (serving !== undefined) {
        folder?.end(serving, asked.rollback === undefined ? `a reload${who}` : `a rollback to ${asked.rollback}${who}`, now);
      }
      this.#open(configuration);
      this.#serves(configuration, asked, folder?.path === this.path ? serving : undefined, now);
      this.#report(asked, 'done', text);
    });
  }

  /** The server ends. */
  ended(why: string): void {
    const { serving, path } = this;
    this.#attempt(() => {
      // The new master of an upgrade goes on with the same configuration.
      if (serving !== undefined && path !== undefined && readRecord(path)?.master === process.pid) {
        this.#kept?.end(serving, why, new Date());
      }
    });
  }

  #open({ process: { history } }: Configuration): void {
    if (history === this.path) {
      return;
    }
    this.#kept = undefined;
    if (history !== undefined) {
      const kept = new KeptConfigurations(history);
      kept.make();
      this.#kept = kept;
    }
  }

  /** `before`: the number, in this folder, of the configuration that has served until now. */
  #serves(configuration: Configuration, asked: AskedReload, before: number | undefined, now: Date): void {
    const kept = this.#kept;
    let serving: number | null = null;
    if (asked.rollback !== undefined && kept?.manifest(asked.rollback) !== undefined) {
      serving = asked.rollback;
      kept.begin(serving, asked.by, now);
    } else if (kept !== undefined) {
      serving = kept.serve(configuration, asked.by, before, now);
    }
    const { pid } = configuration.process;
    this.#record = {
      master: process.pid,
      began: beginningOf(process.pid) ?? '',
      pidFile: pid,
      entry: configuration.snapshot.entry,
      serving,
      rolledBack: asked.rollback !== undefined,
      since: now.toISOString(),
      by: asked.by,
      reload: null,
    };
    this.#write();
  }

  #report({ tokens, by }: AskedReload, outcome: ReloadReport['outcome'], text: string): void {
    if (this.#record !== undefined) {
      this.#record = { ...this.#record, reload: { at: new Date().toISOString(), by, tokens, outcome, text } };
      this.#write();
    }
  }

  #write(): void {
    if (this.#kept !== undefined && this.#record !== undefined) {
      writeRecord(this.#kept.path, this.#record);
    }
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      // A server that may not write there is one that never could: no reason to alarm anybody at each start.
      const level = this.#record === undefined ? INFO : WARN;
      this.#log.log(level, `configurations that serve are not kept (${(error as Error).message})`);
    }
  }
}
