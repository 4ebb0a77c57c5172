import { applyInclude } from '../../shared/config/apply.js';
import { ConfigErrors, type LoadOptions } from '../../shared/config/configuration.js';
import { unlessConfigError } from '../../shared/config/errors.js';
import { foreignText } from '../../shared/config/foreign.js';
import type { DirectiveNode, Node } from '../../shared/config/language/ast.js';
import { Registry } from '../../shared/config/registry.js';
import { diskSources, type Sources } from '../../shared/config/sources.js';
import { levelNames, WARN } from '../../shared/log/level.js';
import { sharedStateText } from '../../worker/js/scripts.js';
import { language } from '../../worker/language.js';
import { loadConfiguration } from '../configuration.js';
import { differenceOf } from './differences.js';

/** How sluice takes a directive. */
export type DirectiveVerdict = 'same' | 'differs' | 'no effect' | 'missing' | 'unknown';

/** All uses of one directive that are taken the same way. */
export interface SurveyLine {
  readonly directive: string;
  readonly verdict: DirectiveVerdict;
  /** What differs, where it comes from, or what it may have meant; empty for the same. */
  readonly note: string;
  /** `FILE:LINE` of each use. */
  readonly places: readonly string[];
}

/** What `sluice migrate` finds out about a configuration. */
export interface Survey {
  readonly files: readonly string[];
  readonly lines: readonly SurveyLine[];
  /** What `-t` says beside unknown directives, in nginx's words. */
  readonly findings: readonly { readonly level: string; readonly message: string; readonly detail: string }[];
  /** True when nothing has to be changed for the configuration to be accepted. */
  readonly accepted: boolean;
}

/** Reads a configuration and says how each of its directives is taken. Files that cannot be read are among the findings. */
export async function surveyConfiguration(options: LoadOptions): Promise<Survey> {
  const walk = new Walk(diskSources(options));
  walk.file(options.entry);
  const findings: Survey['findings'][number][] = [];
  let accepted = true;
  try {
    const { warnings } = await loadConfiguration(options);
    for (const { level, message, detail } of warnings) {
      findings.push({ level: levelNames[level] ?? '', message, detail });
    }
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    for (const { level, message, detail } of error.findings) {
      if (level < WARN) {
        accepted = false;
      }
      if (!/^unknown directive /.test(message)) {
        findings.push({ level: levelNames[level] ?? '', message, detail });
      }
    }
  }
  for (const { place, text } of walk.sharedState()) {
    const message = `js_import: a module runs once in each worker, not anew for each request: requests share ${text} in ${place}`;
    findings.push({ level: 'warn', message, detail: '' });
  }
  return { files: walk.sources.order, lines: walk.lines(), findings, accepted };
}

const registry = new Registry(language);

class Walk {
  readonly sources: Sources;
  readonly #imports: DirectiveNode[] = [];
  readonly #folders: string[] = [];
  /** `nginx_compatibility on` has been read. */
  #compatible = false;
  readonly #lines = new Map<string, SurveyLine & { readonly places: string[] }>();

  constructor(sources: Sources) {
    this.sources = sources;
  }

  /** What requests have in common in the modules of `js_import`, looked for in the folders of every `js_path`. */
  sharedState(): { readonly place: string; readonly text: string }[] {
    const { confPrefix } = this.sources;
    const folders = [confPrefix, ...this.#folders.map((folder) => (folder.startsWith('/') ? folder : confPrefix + folder))];
    return this.#imports.flatMap(({ args, pos }) => {
      const text = sharedStateText(args.at(-1) ?? '', folders);
      return text === undefined ? [] : [{ place: `${pos.file}:${pos.line}`, text }];
    });
  }

  lines(): SurveyLine[] {
    return [...this.#lines.values()].sort((a, b) => (a.directive < b.directive ? -1 : a.directive > b.directive ? 1 : 0));
  }

  /** What cannot be read is told by the findings. */
  file(path: string): void {
    unlessConfigError(() => this.#nodes(this.sources.parse(path), false));
  }

  /** `inStream`: they stand inside `stream`. */
  #nodes(nodes: readonly Node[], inStream: boolean): void {
    for (const node of nodes) {
      if ('syntaxError' in node) {
        continue;
      }
      if (node.name === 'include') {
        unlessConfigError(() => applyInclude(node, (included) => this.#nodes(included, inStream), this.sources));
      } else {
        this.#directive(node, inStream);
      }
    }
  }

  #directive(node: DirectiveNode, inStream: boolean): void {
    const rows = registry.rows(node.name);
    if (rows === undefined) {
      const module = language.missingModule(node.name);
      const foreign = language.foreignDirective(node.name);
      const meant = registry.suggest(node.name);
      // Nothing is known of the inside of an unknown block.
      if (module !== undefined) {
        this.#add(node, 'missing', `of ${module}, which is not there`);
      } else if (foreign !== undefined) {
        this.#add(node, 'unknown', `of ${foreignText(foreign)}`);
      } else {
        this.#add(node, 'unknown', meant === undefined ? 'of no module of nginx' : `of no module of nginx; perhaps \`${meant}\` is meant`);
      }
      return;
    }
    if (node.name === 'nginx_compatibility') {
      this.#compatible = node.args[0]?.toLowerCase() === 'on';
    } else if (node.name === 'js_import') {
      this.#imports.push(node);
    } else if (node.name === 'js_path') {
      this.#folders.push(node.args[0] ?? '');
    }
    const found = differenceOf(node.name, node.args, inStream, this.#compatible);
    if (found === undefined) {
      this.#add(node, 'same', '');
    } else {
      this.#add(node, found.table === 'no-effect' ? 'no effect' : 'differs', found.difference.note);
    }
    if (node.block !== undefined && rows.some(({ directive }) => directive.block === 'directives')) {
      this.#nodes(node.block, inStream || node.name === 'stream');
    }
  }

  #add(node: DirectiveNode, verdict: DirectiveVerdict, note: string): void {
    const key = `${node.name} ${verdict} ${note}`;
    const line = this.#lines.get(key) ?? { directive: node.name, verdict, note, places: [] };
    line.places.push(`${node.pos.file}:${node.pos.line}`);
    this.#lines.set(key, line);
  }
}
