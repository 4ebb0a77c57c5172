// What a tree of processes has used, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** A process and all its descendants. */
export function treeOf(pid) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry)) {
      parents.set(Number(entry), parentOf(entry));
    }
  }
  const tree = [pid];
  for (let i = 0; i < tree.length; i++) {
    for (const [child, parent] of parents) {
      if (parent === tree[i]) {
        tree.push(child);
      }
    }
  }
  return tree;
}

/** CPU time of a tree in microseconds, user and system, all threads. */
export function cpuOf(pid) {
  return treeOf(pid).reduce((sum, each) => sum + cpuOfProcess(each), 0);
}

/** Resident memory of a tree in megabytes. */
export function memoryOf(pid) {
  return treeOf(pid).reduce((sum, each) => sum + Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${each}/status`))?.[1] ?? 0), 0) / 1024;
}

/** The same with each page that processes share counted once, in megabytes: the tree's proportional share. */
export function shareOf(pid) {
  return treeOf(pid).reduce((sum, each) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${each}/smaps_rollup`))?.[1] ?? 0), 0) / 1024;
}

/**
 * What a tree takes in megabytes if nothing else runs the same files: each process's own pages (`own`), and of each file the most that one
 * of them has mapped (`files`), which the others share. Unlike the proportional share it does not depend on other processes.
 */
export function takenBy(pid) {
  let own = 0;
  const files = new Map();
  for (const each of treeOf(pid)) {
    const mapped = new Map();
    let file = '';
    for (const line of read(`/proc/${each}/smaps`).split('\n')) {
      const head = /^[0-9a-f]+-[0-9a-f]+ \S+ (\S+) \S+ \d+ *(.*)$/.exec(line);
      const [, key, size] = /^(Rss|Anonymous): +(\d+)/.exec(line) ?? [];
      if (head !== null) {
        file = `${head[2]} ${head[1]}`;
      } else if (key === 'Anonymous') {
        own += Number(size);
        mapped.set(file, (mapped.get(file) ?? 0) - Number(size));
      } else if (key === 'Rss') {
        mapped.set(file, (mapped.get(file) ?? 0) + Number(size));
      }
    }
    for (const [name, size] of mapped) {
      files.set(name, Math.max(files.get(name) ?? 0, size));
    }
  }
  return { own: own / 1024, files: [...files.values()].reduce((sum, size) => sum + size, 0) / 1024 };
}

function parentOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

// The scheduler's own account counts nanoseconds; the fields of /proc/PID/stat only ticks of ten milliseconds.
function cpuOfProcess(pid) {
  let nanoseconds = 0;
  for (const thread of list(`/proc/${pid}/task`)) {
    nanoseconds += Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]);
  }
  if (nanoseconds > 0) {
    return nanoseconds / 1000;
  }
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10_000;
}

/** A file's text; empty when it is not there (any more). */
export function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The names in a folder; none when it is not there (any more). */
export function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
