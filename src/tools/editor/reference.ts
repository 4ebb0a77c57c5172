import { readFileSync } from 'node:fs';

/** The texts of docs/reference, as Markdown. */
export interface Reference {
  /** What each page says of a directive: several modules may have one of the same name. */
  readonly directives: Readonly<Record<string, readonly string[]>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** Reads what the build has made of docs/reference; empty when it is not there. */
export function readReference(file: string | URL): Reference {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Reference;
  } catch {
    return { directives: {}, variables: {} };
  }
}

/** The forms of a directive, such as `limit_req_status code;`. */
export function syntaxOf(section: string): readonly string[] {
  const block = /```\n([\s\S]*?)\n```/.exec(section)?.[1];
  return block === undefined ? [] : block.split('\n');
}

/** Words that stand for a value that the user chooses. */
const PLACEHOLDERS = new Set(
  'number time size string file path address name text code key value rate variable uri url regex condition port hostname parameter parameters format level directory method string1 cpumask password ciphers protocol mime-type extension network state seconds prefix domain'.split(
    ' ',
  ),
);

/** The words of a directive's forms that are written as they stand: `on`, `nodelay`, `burst=`. */
export function keywordsOf(section: string): readonly string[] {
  const words = new Set<string>();
  for (const form of syntaxOf(section)) {
    const args = form.replace(/^\S+/, '').replace(/[;{}].*$/, '');
    const choices = args.match(/\[[^\]]*\]|[^\s[\]]+(?:\s*\|\s*[^\s[\]|]+)+/g) ?? [];
    for (const word of choices.join(' ').split(/[\s[\]|]+/)) {
      const keyword = /^[a-z][\w-]*=/.exec(word)?.[0] ?? (/^[a-zA-Z][\w.-]*$/.test(word) && !PLACEHOLDERS.has(word) ? word : undefined);
      if (keyword !== undefined) {
        words.add(keyword);
      }
    }
  }
  return [...words];
}
