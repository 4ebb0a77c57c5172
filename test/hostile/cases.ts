import { readdirSync, readFileSync } from 'node:fs';
import { bytesOf } from '../support/case-bytes.js';

// Each *.md file here holds cases: a title, text that says why where it is not plain, an `http` block with what a client sends before it
// closes its side, for hostile backends a `response` block with what they answer, and a `log` block with what must come of it (see
// exchange.ts). Where nginx 1.31.5 does something else, an `nginx` block says what, and the text says why sluice does not.
// test/support/case-bytes.ts says what the blocks' characters stand for.

/** One case of a file. */
export interface HostileCase {
  readonly title: string;
  readonly request: Buffer;
  /** What the backend answers each request with, in place of a plain 200; it closes the connection afterwards. */
  readonly response: Buffer | undefined;
  readonly log: readonly string[];
  /** What nginx does, where that is not `log`. */
  readonly nginx: readonly string[] | undefined;
}

/** The cases of a file's text. */
export function hostileCases(markdown: string): HostileCase[] {
  const cases: HostileCase[] = [];
  for (const section of markdown.split(/^## /m).slice(1)) {
    const title = section.slice(0, section.indexOf('\n'));
    const blocks = new Map([...section.matchAll(/^```(\w+)\n([\s\S]*?)\n?```$/gm)].map(([, name, text]) => [name!, text!]));
    const request = blocks.get('http');
    if (request === undefined) {
      throw new Error(`"${title}" has no http block`);
    }
    const response = blocks.get('response');
    cases.push({
      title,
      request: bytesOf(request),
      response: response === undefined ? undefined : bytesOf(response),
      log: blocks.get('log')?.split('\n') ?? [],
      nginx: blocks.get('nginx')?.split('\n'),
    });
  }
  return cases;
}

/** The files of cases in a folder, by name. */
export function readHostileCases(folder: URL): Map<string, HostileCase[]> {
  const names = readdirSync(folder).filter((file) => file.endsWith('.md'));
  return new Map(names.map((name) => [name, hostileCases(readFileSync(new URL(name, folder), 'utf8'))]));
}
