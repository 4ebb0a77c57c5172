import { readdirSync, readFileSync } from 'node:fs';
import { bytesOf } from '../support/case-bytes.js';
import type { Meta } from './event-log.js';

// Each *.md file here holds cases: a title, a `meta` comment, an `http` block with what arrives, and a `log` block with the events that
// must come of it, whatever pieces the bytes arrive in.

/** One case of a file. */
export interface Case {
  readonly title: string;
  readonly meta: Meta;
  readonly input: Buffer;
  readonly log: readonly string[];
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
    if (cases.length !== markdown.match(/^```http$/gm)?.length) {
      throw new Error(`${name} has a case that was not understood`);
    }
    files.set(name, cases);
  }
  return files;
}
