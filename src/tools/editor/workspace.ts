import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { applyInclude } from '../../shared/config/apply.js';
import type { LoadOptions } from '../../shared/config/configuration.js';
import { In } from '../../shared/config/context.js';
import { unlessConfigError } from '../../shared/config/errors.js';
import type { Node } from '../../shared/config/language/ast.js';
import { diskSources, type Sources } from '../../shared/config/sources.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { contextInside } from './contexts.js';

/** The usual names of main configuration files. */
const MAIN_FILES = ['sluice.conf', 'nginx.conf'];
/** How many folders upwards a main file is looked for. */
const LEVELS = 6;

/** A configuration that an open file belongs to: its main file, and for each of its files the context that the file is included in. */
export interface Whole {
  readonly options: LoadOptions;
  readonly sources: Sources;
  readonly contexts: ReadonlyMap<string, number>;
}

/** The configurations that the files of an editor belong to. Texts of open files stand in for those on disk. All texts are latin1. */
export class Workspace {
  readonly #open = new Map<string, string>();
  /** The main file that the user named, if any. */
  readonly #main: string | undefined;
  readonly #optionsFor: (entry: string) => LoadOptions;

  constructor(main: string | undefined, optionsFor: (entry: string) => LoadOptions) {
    this.#main = main;
    this.#optionsFor = optionsFor;
  }

  open(path: string, text: string): void {
    this.#open.set(path, text);
  }

  close(path: string): void {
    this.#open.delete(path);
  }

  get overlay(): ReadonlyMap<string, string> {
    return this.#open;
  }

  /** The configuration that a file belongs to; undefined for a file that no main file includes, and that is none itself. */
  wholeOf(file: string): Whole | undefined {
    for (const entry of this.#candidates(file)) {
      const whole = this.#read(entry);
      if (whole.contexts.has(file)) {
        return whole;
      }
    }
    const alone = this.#read(file);
    const names = unlessConfigError(() => alone.sources.parse(file)) ?? [];
    return names.some((node) => 'name' in node && (node.name === 'http' || node.name === 'events' || node.name === 'stream'))
      ? alone
      : undefined;
  }

  /** The text of a file as the editor has it, or as it is on disk; undefined when there is none. */
  text(file: string, whole: Whole | undefined): string | undefined {
    return this.#open.get(file) ?? whole?.sources.text(file);
  }

  *#candidates(file: string): Generator<string> {
    if (this.#main !== undefined) {
      yield this.#main;
    }
    let folder = dirname(file);
    for (let level = 0; level < LEVELS; level++) {
      for (const name of MAIN_FILES) {
        const candidate = `${folder === '/' ? '' : folder}/${name}`;
        if (this.#open.has(candidate) || existsSync(fsPath(candidate))) {
          yield candidate;
        }
      }
      if (folder === '/') {
        return;
      }
      folder = dirname(folder);
    }
  }

  #read(entry: string): Whole {
    const options = this.#optionsFor(entry);
    const sources = diskSources(options, undefined, this.#open);
    const contexts = new Map<string, number>();
    const visit = (nodes: readonly Node[], context: number): void => {
      for (const node of nodes) {
        if ('syntaxError' in node) {
          continue;
        }
        if (node.name === 'include' && node.args.length === 1) {
          const files = unlessConfigError(() => sources.include(node.args[0]!, node.pos)) ?? [];
          for (const file of files.filter((name) => !contexts.has(name))) {
            contexts.set(file, context);
          }
          unlessConfigError(() => applyInclude(node, (included) => visit(included, context), sources));
        } else if (node.block !== undefined) {
          visit(node.block, contextInside(context, node.name));
        }
      }
    };
    contexts.set(entry, In.MAIN);
    unlessConfigError(() => visit(sources.parse(entry), In.MAIN));
    return { options, sources, contexts };
  }
}
