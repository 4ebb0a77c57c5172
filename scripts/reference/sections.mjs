// Reads the pages of docs/reference, section by section, for the language server.
import { readdirSync, readFileSync } from 'node:fs';

/** Markdown by name: of each directive, the sections of all modules that have one of this name, and of each variable. */
export function referenceOf(folder) {
  const directives = {};
  const variables = {};
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()) {
    const [, ...sections] = readFileSync(folder + file, 'utf8').split(/^## /m);
    for (const section of sections) {
      const end = section.indexOf('\n');
      const [name, text] = [section.slice(0, end).trim(), section.slice(end).trim()];
      if (name.startsWith('$')) {
        variables[name.slice(1)] = text;
      } else {
        (directives[name] ??= []).push(text.replace(/\nVariables: [\s\S]*$/, ''));
      }
    }
  }
  return { directives, variables };
}
