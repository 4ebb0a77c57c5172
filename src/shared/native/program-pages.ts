// The pages of Node's executable and of the libraries it is linked with that a process has touched. Its start needs most of them, and what
// is at rest next to none; the system counts them to the process for as long as they are mapped.
import { readFileSync, readlinkSync } from 'node:fs';
import { loadLibrary } from './native.js';

const MADV_DONTNEED = 4;
/** The libraries that Node is linked with, on GNU's C library and on musl: they stay where they are until the process ends. */
const LINKED = /\/(?:ld-linux|ld-musl|lib(?:c|m|dl|pthread|stdc\+\+|gcc_s|atomic))[-.][^/]*$/;

/** Memory of a file, from an address on. */
export interface Mapping {
  readonly address: number;
  readonly length: number;
}

/**
 * The parts of the executable `file` and of the libraries it is linked with that are mapped to be read or run, in the kernel's account of a
 * process's memory (/proc/PID/smaps), and of which the process has changed no page: what has been changed would be lost. Other libraries,
 * such as addons of a thread, may go, and what is at their place then must be left alone.
 */
export function unchangedParts(smaps: string, file: string): Mapping[] {
  const parts: Mapping[] = [];
  let part: Mapping | undefined;
  for (const line of smaps.split('\n')) {
    const [, from, to, rights, name] = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)$/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      const address = Number.parseInt(from, 16);
      const stays = name === file || (name !== undefined && LINKED.test(name));
      const wanted = stays && (rights === 'r-xp' || rights === 'r--p');
      part = wanted ? { address, length: Number.parseInt(to, 16) - address } : undefined;
    } else if (part !== undefined && line.startsWith('Anonymous:')) {
      if (/^Anonymous: +0 kB$/.test(line)) {
        parts.push(part);
      }
      part = undefined;
    }
  }
  return parts;
}

/**
 * Returns what has the system forget that this process has touched pages of its executable and libraries. They stay in the system's
 * memory, shared with whoever runs the same file. The first use of each brings it back, with its neighbours, in less than a
 * microsecond.
 */
export function programPages(): () => void {
  try {
    const library = loadLibrary();
    if (typeof library !== 'string') {
      const advise = library.find('int madvise(intptr_t, size_t, int)');
      const parts = unchangedParts(readFileSync('/proc/self/smaps', 'latin1'), readlinkSync('/proc/self/exe'));
      return () => {
        for (const { address, length } of parts) {
          advise(address, length, MADV_DONTNEED);
        }
      };
    }
  } catch {
    // The system has no such account, or it may not be read: the pages stay.
  }
  return () => {};
}
