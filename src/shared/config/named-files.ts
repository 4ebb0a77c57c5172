import { readFileSync, statSync } from 'node:fs';
import { fsPath } from '../files/fs-path.js';
import { readPrivateFile } from '../files/private-file.js';
import { readStated } from '../files/stated-file.js';

/** Gives the content of a file, latin1. Throws the system's error when it cannot be read. */
export type ReadFile = (path: string) => string;

/** A file as it was read, and which version of it that was; undefined when it cannot be told. */
export interface FileVersion {
  readonly text: string;
  readonly stamp: string | undefined;
}

/** Reads a file as it is now. */
export const readNow: ReadFile = (path) => readFileSync(fsPath(path), 'latin1');

/**
 * Tells versions of a file apart, as far as nginx does: its inode, and the second of its last change. Undefined when there is no
 * such file.
 */
export function fileStamp(path: string): string | undefined {
  const stat = statSync(fsPath(path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino} ${Math.floor(stat.mtimeMs / 1000)}`;
}

/**
 * Files that the settings name and that belong to the configuration, such as certificates and keys. The master reads each once and sends
 * it to the workers. They are kept apart from the configuration's text, because `-T` prints that.
 */
export class NamedFiles {
  readonly #versions = new Map<string, FileVersion>();
  readonly #handedOver: Readonly<Record<string, string>>;
  readonly #earlier: ReadonlyMap<string, FileVersion>;
  readonly #renewed = new Set<string>();

  /** `handedOver`: what the master has read; `earlier`: the {@link versions} of the configuration before this one. */
  constructor(handedOver: Readonly<Record<string, string>> = {}, earlier: ReadonlyMap<string, FileVersion> = new Map()) {
    this.#handedOver = handedOver;
    this.#earlier = earlier;
  }

  /** The content of a file, as it was when it was first asked for. */
  readonly read: ReadFile = (path) => this.#read(path, () => undefined);

  /** Reads a secret, `most` bytes long; throws why that cannot be, also where others could have read or changed it. */
  readPrivate(path: string, most: number): string {
    return this.#read(path, () => readPrivateFile(path, most));
  }

  /** Reads as many bytes of a file as the system says that it has: a device has none. */
  readStated(path: string): string {
    return this.#read(path, () => readStated(path));
  }

  /**
   * Reads a file, or takes the content from the previous configuration if the file is still the same and `keepable` agrees.
   * nginx: ngx_ssl_cache_fetch.
   */
  readKept(path: string, keepable: (text: string) => boolean): string {
    return this.#read(path, (stamp) => {
      const known = this.#renewed.has(path) ? undefined : this.#earlier.get(path);
      return known === undefined || stamp === undefined || known.stamp !== stamp || !keepable(known.text) ? undefined : known.text;
    });
  }

  /** Lets a file be read again. */
  renew(path: string): void {
    this.#versions.delete(path);
    this.#renewed.add(path);
  }

  /** What has been read, by full path; for the configuration after this one. */
  get versions(): ReadonlyMap<string, FileVersion> {
    return this.#versions;
  }

  /** The contents of what has been read, by full path; for workers. */
  texts(): Record<string, string> {
    return Object.fromEntries([...this.#versions].map(([path, { text }]) => [path, text]));
  }

  #read(path: string, earlier: (stamp: string | undefined) => string | undefined): string {
    const known = this.#versions.get(path);
    if (known !== undefined) {
      return known.text;
    }
    const given = this.#handedOver[path];
    // A file that is replaced after this moment counts as changed next time.
    const stamp = given === undefined ? fileStamp(path) : undefined;
    const text = given ?? earlier(stamp) ?? readNow(path);
    this.#versions.set(path, { text, stamp });
    return text;
  }
}
