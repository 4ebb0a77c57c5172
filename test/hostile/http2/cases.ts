import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { bytesOf } from '../../support/case-bytes.js';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, T } from '../../support/http2-client.js';

// As the cases of HTTP/1 in the folder above (see its cases.ts), with an `http2` block of frames. A frame is a line with its type, its
// stream and its flags, then a line for each field, or the data, up to an empty line. "\x3a" and the like stand for bytes.

/** A frame as it is written in a case. */
export interface CaseFrame {
  readonly type: string;
  readonly stream: number;
  readonly flags: readonly string[];
  readonly fields: readonly FieldText[];
  readonly data: Buffer;
}

/** One case of a file. */
export interface Http2Case {
  readonly title: string;
  /** The same as `frames`, for a protocol that has other frames. */
  readonly parts: readonly CaseFrame[];
  /** Whole frames, which follow the preface and empty SETTINGS. */
  readonly frames: Buffer;
  /** The streams that are opened. */
  readonly streams: readonly number[];
  /** What the backend answers each request with, in place of a plain 200. */
  readonly response?: Buffer | undefined;
  readonly log: readonly string[];
  /** What nginx does, where that is not `log`. */
  readonly nginx: readonly string[] | undefined;
}

const flags: { readonly [name: string]: number } = { END_STREAM, END_HEADERS, NO_END_HEADERS: 0 };

function fieldOf(line: string): FieldText {
  const colon = line.indexOf(': ', 1);
  return [text(line.slice(0, colon)), text(line.slice(colon + 2))];
}

const text = (escaped: string): string => bytesOf(escaped).toString('latin1');

function frameOf(lines: readonly string[]): { bytes: Buffer; opens: number | undefined } {
  const [type = '', stream = '', ...names] = lines[0]!.split(' ');
  const id = Number(stream);
  const given = names.reduce((sum, name) => sum | flags[name]!, 0);
  if (type === 'DATA') {
    return { bytes: frame(T.DATA, given, id, bytesOf(lines.slice(1).join('\n'))), opens: undefined };
  }
  const end = names.includes('NO_END_HEADERS') ? 0 : END_HEADERS;
  const payload = block(lines.slice(1).map(fieldOf));
  return { bytes: frame(type === 'HEADERS' ? T.HEADERS : T.CONTINUATION, given | end, id, payload), opens: id };
}

function partOf(lines: readonly string[]): CaseFrame {
  const [type = '', stream = '', ...names] = lines[0]!.split(' ');
  const data = type === 'DATA';
  return {
    type,
    stream: Number(stream),
    flags: names,
    fields: data ? [] : lines.slice(1).map(fieldOf),
    data: data ? bytesOf(lines.slice(1).join('\n')) : Buffer.alloc(0),
  };
}

function http2Cases(markdown: string): Http2Case[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const blocks = new Map([...section.matchAll(/^```(\w+)\n([\s\S]*?)\n?```$/gm)].map(([, name, body]) => [name!, body!]));
      const texts = blocks
        .get('http2')!
        .split('\n\n')
        .map((lines) => lines.split('\n'));
      const frames = texts.map(frameOf);
      return {
        title: section.slice(0, section.indexOf('\n')),
        parts: texts.map(partOf),
        frames: Buffer.concat(frames.map(({ bytes }) => bytes)),
        streams: [...new Set(frames.flatMap(({ opens }) => opens ?? []))],
        log: blocks.get('log')?.split('\n') ?? [],
        nginx: blocks.get('nginx')?.split('\n'),
      };
    });
}

const folder = new URL('.', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.md'));

/** The cases of all files, by name. */
export const readHttp2Cases = (): Map<string, Http2Case[]> =>
  new Map(names.map((name) => [name, http2Cases(readFileSync(new URL(name, folder), 'utf8'))]));

/** Writes what was found as the `log` or `nginx` block of each case of a file, to be read before it is kept. */
export function writeHttp2Cases(name: string, kind: 'log' | 'nginx', found: readonly (readonly string[])[]): void {
  const path = new URL(name, folder);
  const sections = readFileSync(path, 'utf8').split(/^(?=## )/m);
  found.forEach((lines, i) => {
    const log = /^```log\n([\s\S]*?)\n```$/m.exec(sections[i + 1]!)?.[1];
    const rest = sections[i + 1]!.replace(new RegExp(`\\n\`\`\`${kind}\\n[\\s\\S]*?\\n\`\`\`\\n`), '').trimEnd();
    const same = kind === 'nginx' && log === lines.join('\n');
    sections[i + 1] = `${rest}\n${same ? '' : `\n\`\`\`${kind}\n${lines.join('\n')}\n\`\`\`\n`}\n`;
  });
  writeFileSync(path, `${sections.join('').trimEnd()}\n`);
}
