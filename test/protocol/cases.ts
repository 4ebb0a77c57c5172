import { readdirSync, readFileSync } from 'node:fs';
import type { Meta } from './event-log.js';

// Each *.md file here holds cases: a title, a `meta` comment, an `http` block with what arrives, and a `log` block with the events that
// must come of it, whatever pieces the bytes arrive in. Lines of an `http` block end with CRLF; "\r", "\n", "\t", "\xHH" and "\\" stand for
// those bytes, a "\" before a line's end joins the lines, and "{a*100}" is a hundred times "a".

/** One case of a file. */
export interface Case {
  readonly title: string;
  readonly meta: Meta;
  readonly input: Buffer;
  readonly log: readonly string[];
}

const escapes: { readonly [c: string]: string } = { r: '\r', n: '\n', t: '\t', '\\': '\\' };

function bytesOf(block: string): Buffer {
  const text = block
    .replace(/\\\n/g, '')
    .replace(/\n/g, '\r\n')
    .replace(/\{([^{}]+)\*(\d+)\}/g, (_all, what: string, times: string) => what.repeat(Number(times)))
    .replace(/\\(?:x([0-9a-f]{2})|([rnt\\]))/g, (_all, hex: string | undefined, c: string) =>
      hex === undefined ? escapes[c]! : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(text, 'latin1');
}

function casesOf(markdown: string): Case[] {
  const cases: Case[] = [];
  const pattern = /^##+ (.*)\n[\s\S]*?(?:<!-- meta=(.*) -->\n\n)?```http\n([\s\S]*?)\n?```\n\n```log\n([\s\S]*?)\n?```$/gm;
  for (const [, title, meta, input, log] of markdown.matchAll(pattern)) {
    cases.push({ title: title!, meta: JSON.parse(meta ?? '{}') as Meta, input: bytesOf(input!), log: log!.split('\n') });
  }
  return cases;
}

/** The files of cases in a folder, by name. */
export function readCases(folder: URL): Map<string, Case[]> {
  const files = new Map<string, Case[]>();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
    const markdown = readFileSync(new URL(name, folder), 'utf8');
    const cases = casesOf(markdown);
    if (cases.length !== markdown.match(/^```http$/gm)?.length) throw new Error(`${name} has a case that was not understood`);
    files.set(name, cases);
  }
  return files;
}
