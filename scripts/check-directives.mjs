// Compares our directive tables with nginx's own: the contexts where a directive may stand, how many arguments it
// takes there, and whether it opens a block. Prints each difference and exits with 1 when there is one.
//
//   node scripts/check-directives.mjs PATH_TO_NGINX_SOURCES [--missing] [--table FILE]
//
// --missing also lists nginx's directives that we do not have. --table writes nginx's names with the contexts and the files they
// come from; test/meta/nginx-directives.tsv is made so, for checks where nginx's sources are not at hand.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { missing: { type: 'boolean', default: false }, table: { type: 'string' } },
});
if (positionals.length !== 1) {
  throw new Error('usage: node scripts/check-directives.mjs PATH_TO_NGINX_SOURCES [--missing] [--table FILE]');
}

/** nginx's context flags by the names of ours. */
const CONTEXTS = {
  MAIN: 'NGX_MAIN_CONF',
  EVENTS: 'NGX_EVENT_CONF',
  HTTP: 'NGX_HTTP_MAIN_CONF',
  SERVER: 'NGX_HTTP_SRV_CONF',
  LOCATION: 'NGX_HTTP_LOC_CONF',
  UPSTREAM: 'NGX_HTTP_UPS_CONF',
  SERVER_IF: 'NGX_HTTP_SIF_CONF',
  LOCATION_IF: 'NGX_HTTP_LIF_CONF',
  LIMIT_EXCEPT: 'NGX_HTTP_LMT_CONF',
  STREAM: 'NGX_STREAM_MAIN_CONF',
  STREAM_SERVER: 'NGX_STREAM_SRV_CONF',
  STREAM_UPSTREAM: 'NGX_STREAM_UPS_CONF',
};
const MAX_ARGS = 7; // nginx: NGX_CONF_MAX_ARGS counts the name too

const { theirs, elsewhere, files } = nginxTable(positionals[0]);
const ours = await ourTable();
// A context that we have nothing in is one that has not been built, not a difference in every directive.
const open = Object.keys(CONTEXTS).filter((context) => [...ours.values()].some((contexts) => contexts.has(context)));
const differences = [];
for (const [name, contexts] of ours) {
  const reference = theirs.get(name);
  if (reference === undefined) {
    continue;
  }
  for (const context of open) {
    const [mine, wanted] = [contexts.get(context), reference.get(context)];
    if (mine !== wanted) {
      differences.push(`${name} in ${context}: ${mine ?? 'not allowed'}, nginx: ${wanted ?? 'not allowed'}`);
    }
  }
}
const alone = [...ours.keys()].filter((name) => !theirs.has(name));
const missing = [...theirs.keys()].filter((name) => !ours.has(name));
for (const difference of differences) {
  console.log(difference);
}
console.log(`${ours.size} directives, ${differences.length} differences; ${missing.length} of nginx's are missing`);
if (alone.length > 0) {
  console.log(`not in nginx: ${alone.map((name) => (elsewhere.has(name) ? `${name} (another form there)` : name)).join(' ')}`);
}
if (options.missing) {
  console.log(`missing: ${missing.sort().join(' ')}`);
}
if (options.table !== undefined) {
  const rows = [...theirs].map(
    ([name, contexts]) => `${name}\t${[...contexts.keys()].join(' ')}\t${[...files.get(name)].sort().join(' ')}\n`,
  );
  writeFileSync(options.table, rows.sort().join(''));
}
process.exitCode = differences.length === 0 ? 0 : 1;

/** name -> context -> what may stand there, from the tables of `ngx_command_t` in the C sources. */
function nginxTable(folder) {
  const theirs = new Map();
  const elsewhere = new Set();
  const files = new Map();
  for (const file of readdirSync(`${folder}/src`, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.c') || file.startsWith('mail')) {
      continue;
    }
    const text = readFileSync(`${folder}/src/${file}`, 'latin1').replace(/\/\*.*?\*\//gs, '');
    for (const [, name, flags] of text.matchAll(/\{\s*ngx_string\("([a-z0-9_]+)"\),\s*([A-Z0-9_|\s]+),/g)) {
      const words = new Set(flags.split(/[\s|]+/));
      const contexts = Object.keys(CONTEXTS).filter((context) => words.has(CONTEXTS[context]));
      if (![...words].some((word) => /^NGX_CONF_/.test(word))) {
        continue;
      }
      if (contexts.length === 0) {
        elsewhere.add(name);
      } else {
        files.set(name, (files.get(name) ?? new Set()).add(basename(file, '.c')));
      }
      for (const context of contexts) {
        put(theirs, name, context, describe(nginxArity(words), words.has('NGX_CONF_BLOCK')));
      }
    }
  }
  if (theirs.size === 0) {
    throw new Error(`no directive tables under ${folder}/src`);
  }
  return { theirs, elsewhere, files };
}

function nginxArity(words) {
  if (words.has('NGX_CONF_FLAG')) {
    return 'flag';
  }
  const counts = new Set();
  for (const word of words) {
    const [, digits, least] = /^NGX_CONF_(?:TAKE(\d+)|(\d)MORE)$/.exec(word) ?? [];
    for (const digit of digits ?? '') {
      counts.add(Number(digit));
    }
    if (word === 'NGX_CONF_NOARGS') {
      counts.add(0);
    }
    if (least !== undefined || word === 'NGX_CONF_ANY') {
      for (let n = Number(least ?? 0); n <= MAX_ARGS; n++) {
        counts.add(n);
      }
    }
  }
  return counts;
}

/** The same from our registry, which is bundled for the purpose. */
async function ourTable() {
  const root = new URL('..', import.meta.url).pathname;
  const folder = `${root}node_modules/.cache/sluice`;
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export { modules } from './src/worker/modules/index.js'; export { In } from './src/shared/config/context.js';`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile: `${folder}/registry.mjs`,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    define: { SLUICE_VERSION: '"0"' },
    logLevel: 'warning',
  });
  const { modules, In } = await import(`file://${folder}/registry.mjs`);
  const table = new Map();
  for (const module of modules) {
    for (const level of ['process', 'main', 'server', 'location', 'upstream']) {
      for (const [name, row] of Object.entries(module[level]?.directives ?? {})) {
        for (const [context, bit] of Object.entries(In)) {
          if (row.in & bit) {
            put(table, name, context, describe(ourArity(row.args), row.block !== undefined));
          }
        }
      }
    }
  }
  return table;
}

function ourArity(args) {
  if (args === 'flag') {
    return 'flag';
  }
  if (typeof args === 'number') {
    return new Set([args]);
  }
  if (Array.isArray(args)) {
    return new Set(args);
  }
  const { min = 0, max = MAX_ARGS } = args === 'any' ? {} : args;
  return new Set(Array.from({ length: max - min + 1 }, (_, i) => min + i));
}

function describe(arity, block) {
  const counts = arity === 'flag' ? 'on|off' : `${[...arity].sort().join(',')} arguments`;
  return `${counts}${block ? ' and a block' : ''}`;
}

function put(table, name, context, what) {
  if (!table.has(name)) {
    table.set(name, new Map());
  }
  const contexts = table.get(name);
  const before = contexts.get(context);
  contexts.set(context, before === undefined || before === what ? what : [...new Set([...before.split(' or '), what])].sort().join(' or '));
}
