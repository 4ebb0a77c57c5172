import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Configuration, Snapshot } from '../../shared/config/configuration.js';
import { type NamedDigest, namedDigests } from '../../shared/config/named-digest.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { PrivateFolder } from '../../shared/files/private-folder.js';
import { replaceStateFile, writeFresh } from '../../shared/files/state-file.js';

/** How many configurations are kept at most; {@link MOST_BYTES} bounds all together. */
const MOST = 10;
const MOST_BYTES = 64 * 1024 * 1024;
/** How many times of serving are noted of one configuration: the latest ones. */
const MOST_PERIODS = 20;

/** One time during which a configuration served. Times are ISO 8601; `by` is unknown for signals that another program sent. */
export interface Period {
  readonly from: string;
  readonly by: string | null;
  /** When and why it ended; null while it lasts. */
  until: string | null;
  why: string | null;
}

/** What is known of a kept configuration beside its texts. Paths are latin1. */
export interface Manifest {
  readonly id: number;
  readonly entry: string;
  readonly prefix: string;
  readonly confPrefix: string;
  readonly globals: string;
  /** The file in the folder that has the text, by the full path that it was read from. */
  readonly files: Readonly<Record<string, string>>;
  readonly globs: Snapshot['globs'];
  readonly hosts: Snapshot['hosts'];
  /** Certificates, keys and other files that settings name: they are not copied. */
  readonly named: Readonly<Record<string, NamedDigest>>;
  readonly periods: Period[];
}

/** A kept configuration with its texts. */
export interface Kept {
  readonly manifest: Manifest;
  readonly texts: Readonly<Record<string, string>>;
}

const MANIFEST = 'manifest.json';

/**
 * The folder of configurations that served, one folder each under its number, with all files as they were and a manifest. Only the
 * master's user may look into it. Methods throw node:fs's errors.
 */
export class KeptConfigurations {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Makes the folder where it is missing, and closes it to others. One that belongs to somebody else, or into which others
   * may write, is not used: throws an Error.
   */
  make(): void {
    mkdirSync(fsPath(this.path), { recursive: true, mode: 0o700 });
    PrivateFolder.make(this.path).close();
  }

  /** The numbers of all that is kept, in order. */
  ids(): number[] {
    return readdirSync(fsPath(this.path), 'latin1')
      .filter((name) => /^[1-9]\d{0,14}$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** The manifest of one; undefined when there is none, or none that can be read. */
  manifest(id: number): Manifest | undefined {
    try {
      const manifest = JSON.parse(readFileSync(fsPath(`${this.path}/${id}/${MANIFEST}`), 'latin1')) as Manifest;
      return manifest.id === id && Array.isArray(manifest.periods) && typeof manifest.files === 'object' ? manifest : undefined;
    } catch {
      return undefined;
    }
  }

  /** All manifests, in the order of their numbers. */
  all(): Manifest[] {
    return this.ids().flatMap((id) => this.manifest(id) ?? []);
  }

  /** One with its texts; undefined when it is not there, or not whole. */
  read(id: number): Kept | undefined {
    const manifest = this.manifest(id);
    if (manifest === undefined) {
      return undefined;
    }
    try {
      const texts = Object.entries(manifest.files).map(([path, file]) => {
        if (!/^[\w.-]+$/.test(file)) {
          throw new Error('a name that was not made here');
        }
        return [path, readFileSync(fsPath(`${this.path}/${id}/${file}`), 'latin1')] as const;
      });
      return { manifest, texts: Object.fromEntries(texts) };
    } catch {
      return undefined;
    }
  }

  /**
   * Notes that a configuration serves from now on, under the number that is returned: that of the one that served before, or of the
   * newest, where it says the same; else a new one, for which the oldest goes. `now`: the one that has served until now.
   */
  serve({ snapshot }: Configuration, by: string | null, now: number | undefined, time: Date): number {
    const same = [now, this.ids().at(-1)].find((id) => id !== undefined && this.#says(id, snapshot));
    if (same !== undefined) {
      this.begin(same, by, time);
      return same;
    }
    const id = (this.ids().at(-1) ?? 0) + 1;
    this.#write(id, snapshot, [period(by, time)]);
    this.#prune(id);
    return id;
  }

  /** Notes that one serves again. */
  begin(id: number, by: string | null, time: Date): void {
    this.#change(id, (periods) => {
      const last = periods.at(-1);
      if (last?.until === null) {
        last.until = time.toISOString();
        last.why = 'it was loaded again';
      }
      periods.push(period(by, time));
      periods.splice(0, Math.max(0, periods.length - MOST_PERIODS));
    });
  }

  /** Notes that one has ceased to serve. */
  end(id: number, why: string, time: Date): void {
    this.#change(id, (periods) => {
      const last = periods.at(-1);
      if (last?.until === null) {
        last.until = time.toISOString();
        last.why = why;
      }
    });
  }

  #change(id: number, change: (periods: Period[]) => void): void {
    const manifest = this.manifest(id);
    if (manifest !== undefined) {
      change(manifest.periods);
      replaceStateFile(`${this.path}/${id}/${MANIFEST}`, Buffer.from(manifestText(manifest), 'latin1'));
    }
  }

  #says(id: number, snapshot: Snapshot): boolean {
    const kept = this.read(id);
    if (kept === undefined) {
      return false;
    }
    const { entry, prefix, confPrefix, globals, globs } = kept.manifest;
    const origin = [entry, prefix, confPrefix, globals, JSON.stringify(globs)];
    const other = [snapshot.entry, snapshot.prefix, snapshot.confPrefix, snapshot.globals, JSON.stringify(snapshot.globs)];
    const paths = Object.keys(snapshot.files);
    return (
      origin.every((text, i) => text === other[i]) &&
      paths.length === Object.keys(kept.texts).length &&
      paths.every((path) => kept.texts[path] === snapshot.files[path])
    );
  }

  /** The folder appears under its name once it is whole. */
  #write(id: number, snapshot: Snapshot, periods: Period[]): void {
    const fresh = `${this.path}/.${id}.new`;
    rmSync(fsPath(fresh), { recursive: true, force: true });
    mkdirSync(fsPath(fresh), { mode: 0o700 });
    const files: Record<string, string> = {};
    for (const [i, [path, text]] of Object.entries(snapshot.files).entries()) {
      const base = path.slice(path.lastIndexOf('/') + 1).replace(/[^\w.-]/g, '_');
      const file = `${i + 1}-${base.slice(0, 100)}`;
      files[path] = file;
      writeFresh(fsPath(`${fresh}/${file}`), Buffer.from(text, 'latin1'));
    }
    const { entry, prefix, confPrefix, globals, globs, hosts, named } = snapshot;
    const manifest: Manifest = { id, entry, prefix, confPrefix, globals, files, globs, hosts, named: namedDigests(named), periods };
    writeFresh(fsPath(`${fresh}/${MANIFEST}`), Buffer.from(manifestText(manifest), 'latin1'));
    renameSync(fsPath(fresh), fsPath(`${this.path}/${id}`));
  }

  /** Removes the oldest, but never the one that serves. */
  #prune(serving: number): void {
    const ids = this.ids();
    const sizes = new Map(ids.map((id) => [id, this.#bytes(id)]));
    let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    let left = ids.length;
    for (const id of ids) {
      if (id !== serving && (left > MOST || bytes > MOST_BYTES)) {
        rmSync(fsPath(`${this.path}/${id}`), { recursive: true, force: true });
        left--;
        bytes -= sizes.get(id)!;
      }
    }
  }

  #bytes(id: number): number {
    const folder = `${this.path}/${id}`;
    return readdirSync(fsPath(folder), 'latin1').reduce((sum, name) => sum + statSync(fsPath(`${folder}/${name}`)).size, 0);
  }
}

const period = (by: string | null, time: Date): Period => ({ from: time.toISOString(), by, until: null, why: null });

/** JSON in which every character is one byte, whatever the paths are. */
const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, undefined, 1)}\n`;
