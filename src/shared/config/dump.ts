import type { Sources } from './sources.js';

/** What `-T` writes to standard output (latin1): every file that was read, once, in the order of first reading. nginx: ngx_dump_config */
export function dumpConfig(sources: Pick<Sources, 'order' | 'text'>): string {
  return sources.order.map((path) => `# configuration file ${path}:\n${sources.text(path) ?? ''}\n`).join('');
}
