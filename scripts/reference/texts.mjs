// Reads the files reference.md that stand beside the tables of directives; scripts/docs.mjs says what they look like.
import { existsSync, readFileSync } from 'node:fs';

/** Where the texts of directives are that protocols to backends share. */
const SHARED = ['upstream/directives', 'upstream/group', 'cache', 'cgi'];
/** Modules whose folders have another name. */
const FOLDERS = { range_header: 'range', upstream_groups: 'upstream' };
const FAMILIES = ['proxy', 'fastcgi', 'scgi', 'uwsgi', 'memcached', 'grpc', 'tunnel'];

/**
 * All texts: `of(module, name)` finds a directive's or variable's section, and `introduction(module)` what the module's file begins with.
 * `names`: every heading, with the file it stands in.
 */
export function readTexts(worker, modules) {
  const own = new Map();
  const shared = new Map();
  const files = new Map();
  const names = [];
  const take = (file, into) => {
    if (!existsSync(worker + file)) {
      return undefined;
    }
    const { introduction, sections } = parse(readFileSync(worker + file, 'utf8'), `src/worker/${file}`);
    for (const section of sections) {
      names.push({ name: section.name, file: section.file });
      into.set(section.name, section);
    }
    return introduction;
  };
  for (const folder of SHARED) {
    take(`${folder}/reference.md`, shared);
  }
  for (const { name } of modules) {
    const sections = new Map();
    const introduction = take(`modules/${FOLDERS[name] ?? name.replaceAll('_', '-')}/reference.md`, sections);
    own.set(name, sections);
    files.set(name, introduction);
  }
  return {
    names,
    introduction: (module) => files.get(module),
    of: (module, name) => own.get(module)?.get(name) ?? shared.get(name) ?? ofFamily(shared, name),
  };
}

/** The text of all protocols' directives that end so, made into that of one of them. */
function ofFamily(shared, name) {
  const family = FAMILIES.find((word) => name.startsWith(`${word}_`));
  if (family === undefined) {
    return undefined;
  }
  const section = shared.get(`FAMILY_${name.slice(family.length + 1)}`);
  if (section === undefined) {
    return undefined;
  }
  const fill = (text) => text.replaceAll('FAMILY', family);
  return {
    ...section,
    name,
    syntax: section.syntax.map(fill),
    initial: fill(section.initial),
    example: fill(section.example),
    text: fill(section.text),
  };
}

function parse(source, file) {
  const [head = '', ...rest] = source.split(/^## /m);
  const introduction = head.replace(/^# .*\n/, '').trim();
  const sections = rest.map((part) => {
    const [heading, ...lines] = part.split('\n');
    /** @type {{ name: string, file: string, syntax: string[], initial: string, example: string, text: string }} */
    const section = { name: heading.trim(), file, syntax: [], initial: '', example: '', text: '' };
    while (lines.length > 0) {
      const found = /^(Syntax|Default|Example): (.*)$/.exec(lines[0]);
      if (found === null) {
        break;
      }
      lines.shift();
      if (found[1] === 'Syntax') {
        section.syntax.push(found[2]);
      } else if (found[1] === 'Default') {
        section.initial = found[2];
      } else {
        section.example = found[2];
      }
    }
    section.text = lines.join('\n').trim();
    return section;
  });
  return { introduction, sections };
}
