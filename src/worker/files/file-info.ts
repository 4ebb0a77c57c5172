import { httpDate } from '../text/http-date.js';

const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const S_IFDIR = 0o040000;
const S_IXUSR = 0o100;

/** Tells a file or a folder from everything else that a path may lead to. */
export const isFileOrFolder = (mode: number): boolean => (mode & S_IFMT) === S_IFREG || (mode & S_IFMT) === S_IFDIR;

/** The system errors that file modules tell apart. */
export const ENOENT = 2;
export const EACCES = 13;
export const ENOTDIR = 20;
export const EMLINK = 31;
export const ENAMETOOLONG = 36;
export const ELOOP = 40;

/** The entity tag of so many bytes that were made of a file with this time, in seconds since 1970. nginx: ngx_http_set_etag. */
export const etagOf = (mtime: number, length: number): string => `"${mtime.toString(16)}-${length.toString(16)}"`;

/** What node:fs says about a file. */
export interface FileStat {
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

/** What is known of one version of a file, or why it cannot be had. nginx: ngx_open_file_info_t. */
export class FileInfo {
  /** Number of the system error; 0 when there is a file. */
  readonly errno: number;
  /** The system call that failed: `open()`. */
  readonly failed: string;
  readonly mode: number;
  /** Bytes. */
  readonly size: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
  /** The content of a small file. Shared by all responses: never changed in place. */
  body: Buffer | null = null;
  /** Descriptor of a large file that was opened to be sent; whoever opened it closes it. -1 for none. */
  fd = -1;
  /** The path as node:fs takes it, of a file whose content is kept. */
  file: string | Buffer | undefined = undefined;
  /** See {@link HotFiles}. */
  confirmedTick = 0;
  confirmedAt = 0;
  /** Names this version of the file, in this process. */
  readonly identity: string;
  #etag = '';
  #lastModified = '';

  constructor(stat: FileStat | null, errno: number, failed: string) {
    this.errno = errno;
    this.failed = failed;
    this.mode = stat === null ? 0 : stat.mode;
    this.size = stat === null ? 0 : stat.size;
    this.mtimeMs = stat === null ? 0 : stat.mtimeMs;
    this.ctimeMs = stat === null ? 0 : stat.ctimeMs;
    this.mtime = Math.floor(this.mtimeMs / 1000);
    this.ino = stat === null ? 0 : stat.ino;
    this.dev = stat === null ? 0 : stat.dev;
    this.identity = stat === null ? '' : `${this.dev}-${this.ino}-${this.mtimeMs}-${this.ctimeMs}-${this.size}`;
  }

  get isFile(): boolean {
    return (this.mode & S_IFMT) === S_IFREG;
  }

  get isDirectory(): boolean {
    return (this.mode & S_IFMT) === S_IFDIR;
  }

  /** The file's owner may execute it. */
  get isExecutable(): boolean {
    return (this.mode & S_IXUSR) !== 0;
  }

  /** True when nothing has changed since. A file's ctime moves with every write, rename and change of rights. */
  sameVersion(stat: FileStat): boolean {
    return (
      stat.mtimeMs === this.mtimeMs &&
      stat.ctimeMs === this.ctimeMs &&
      stat.size === this.size &&
      stat.ino === this.ino &&
      stat.dev === this.dev &&
      stat.mode === this.mode
    );
  }

  /** The entity tag of the file as it is. */
  get etag(): string {
    if (this.#etag === '') {
      this.#etag = etagOf(this.mtime, this.size);
    }
    return this.#etag;
  }

  /** The modification time as HTTP writes it. */
  get lastModified(): string {
    if (this.#lastModified === '') {
      this.#lastModified = httpDate(this.mtime * 1000);
    }
    return this.#lastModified;
  }
}
