import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file is looked at again when an exception comes from it once more after so many other files. */
const MOST_KEPT = 64;

/** Maps of files that exceptions came from; null where there is none. */
const maps = new Map<string, SourceMap | null>();

/** A line of a stack with the place that the file was made from, where the file names a source map; else the line itself. */
export function mappedFrame(frame: string): string {
  const found = /^(.*?\(?)((?:file:\/\/)?\/[^()]*\.[cm]?js):(\d+):(\d+)(\)?)$/.exec(frame);
  if (found === null) {
    return frame;
  }
  const [, before = '', name = '', line, column, after = ''] = found;
  const file = name.startsWith('file:') ? fileURLToPath(name) : name;
  const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) {
    return frame;
  }
  const { originalSource, originalLine, originalColumn } = entry;
  const source = originalSource.startsWith('file:') ? fileURLToPath(originalSource) : resolve(dirname(file), originalSource);
  return `${before}${source}:${originalLine + 1}:${originalColumn + 1}${after}`;
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map === undefined) {
    if (maps.size >= MOST_KEPT) {
      maps.clear();
    }
    map = readMap(file);
    maps.set(file, map);
  }
  return map;
}

function readMap(file: string): SourceMap | null {
  try {
    const url = /\/\/[#@] sourceMappingURL=(\S+)\s*$/.exec(readFileSync(file, 'utf8').slice(-4_000_000))?.[1];
    if (url === undefined) {
      return null;
    }
    const inline = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(url);
    const path = resolve(dirname(file), url);
    if (inline === null && !existsSync(path)) {
      return null;
    }
    const text =
      inline === null
        ? readFileSync(path, 'utf8')
        : inline[1] === undefined
          ? decodeURIComponent(inline[2]!)
          : Buffer.from(inline[2]!, 'base64').toString();
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return null;
  }
}
