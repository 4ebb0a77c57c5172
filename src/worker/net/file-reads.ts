/** The most bytes of one {@link FileReads.read}. */
export const READ_MOST = 256 * 1024;
/** The most bytes of one {@link FileReads.present}: they are still in the processor's cache when they are sent. */
export const PRESENT_MOST = 128 * 1024;

/** Who has something read. */
export interface FileTaker {
  /** Fewer bytes than were asked for where the file ends. They are lent until this returns, unless they were to be kept. */
  fileRead(bytes: Buffer): void;
  fileFailed(error: Error): void;
}

/** Reads large files for all connections of a process. */
export interface FileReads {
  /**
   * As many bytes, up to {@link PRESENT_MOST}, as were asked for, lent until the next call; null when they are to be read with
   * {@link FileReads.read}, since the system has to fetch them or something is wrong with them.
   */
  present(fd: number, at: number, size: number): Buffer | null;
  /** Whether the kernel can send these bytes by itself without waiting for them, as far as that can be told. */
  sendable(fd: number, at: number, size: number): boolean;
  /**
   * Reads up to {@link READ_MOST} bytes in the background, after others when there is no memory; the taker is told once, and never before
   * this returns. Until then the descriptor stays open. `keep`: the taker may keep the bytes.
   */
  read(fd: number, at: number, size: number, keep: boolean, taker: FileTaker): void;
  /** Takes a read back that has not begun. Returns false when it has: then the taker is told as ever. */
  withdraw(taker: FileTaker): boolean;
}
