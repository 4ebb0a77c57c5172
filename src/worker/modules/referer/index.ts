import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { ConfigError, mergeErrorPos } from '../../../shared/config/errors.js';
import { int } from '../../../shared/config/slots.js';
import { type CompiledRegex, compileRegex } from '../../../shared/regex/compile.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { RefererTable } from './table.js';

interface Settings {
  /** Undefined: every referer is valid. */
  table: RefererTable | undefined;
  /** A server name that `valid_referers` has as well, or that is none; the message for it. */
  conflict: string | undefined;
  /** Sizes of nginx's own hash tables; read and checked only. */
  hashMaxSize: number;
  hashBucketSize: number;
}

const SERVER_LOCATION = In.SERVER | In.LOCATION;

const scope = defineScope<Settings>({
  fields: {
    table: own<RefererTable | undefined>(undefined),
    conflict: own<string | undefined>(undefined),
    hashMaxSize: inherit(2048),
    hashBucketSize: inherit(64),
  },
  // nginx: ngx_http_referer_merge_conf.
  finish(conf, parent, { block }) {
    const { table } = conf;
    if (table === undefined) {
      conf.table = parent?.table;
      return;
    }
    if (table.serverNames) {
      conf.conflict = addServerNames(table, block);
    }
    table.regexes ??= parent?.table?.regexes;
    table.serverRegexes ??= parent?.table?.serverRegexes;
  },
  link({ table, conflict }, ctx, { block }) {
    if (conflict !== undefined) {
      ctx.fail(conflict, mergeErrorPos(block));
    }
    if (table !== undefined && (table.none || table.blocked) && !table.hasHosts) {
      throw new ConfigError(
        'the "none" or "blocked" referers are specified in the "valid_referers" directive without any valid referer',
        undefined,
      );
    }
  },
  directives: {
    // Syntax: valid_referers none | blocked | server_names | string ...;
    valid_referers: {
      in: SERVER_LOCATION,
      args: { min: 1 },
      set(conf, node, ctx) {
        conf.table ??= new RefererTable();
        for (const [arg, text] of node.args.entries()) {
          addReferer(conf.table, text, arg, ctx);
        }
      },
    },
    // Syntax: referer_hash_max_size size;
    referer_hash_max_size: { in: SERVER_LOCATION, args: 1, set: int('hashMaxSize') },
    // Syntax: referer_hash_bucket_size size;
    referer_hash_bucket_size: { in: SERVER_LOCATION, args: 1, set: int('hashBucketSize') },
  },
});

// nginx: ngx_http_valid_referers.
function addReferer(table: RefererTable, text: string, arg: number, ctx: Context): void {
  if (text === '') {
    ctx.fail(`invalid referer "${text}"`, { arg });
  } else if (text === 'none') {
    table.none = true;
  } else if (text === 'blocked') {
    table.blocked = true;
  } else if (text === 'server_names') {
    table.serverNames = true;
  } else if (text.startsWith('~')) {
    table.regexes = [...(table.regexes ?? []), compile(text, arg, ctx)];
  } else {
    const slash = text.indexOf('/');
    const host = slash < 0 ? text : text.slice(0, slash);
    const problem = added(table, host, slash < 0 ? '' : text.slice(slash));
    if (problem !== undefined) {
      ctx.fail(problem, { arg });
    }
  }
}

function compile(text: string, arg: number, ctx: Context): CompiledRegex {
  if (text === '~') {
    ctx.fail(`empty regex in "${text}"`, { arg });
  }
  try {
    return compileRegex(text.slice(1), { caseless: true });
  } catch (error) {
    return ctx.fail((error as Error).message, { arg });
  }
}

/** Adds a host and returns what is wrong with it. nginx: ngx_http_add_referer. */
function added(table: RefererTable, host: string, path: string): string | undefined {
  const result = table.add(host, path);
  if (result === 'ok') {
    return undefined;
  }
  return result === 'invalid' ? `invalid hostname or wildcard "${host}"` : `conflicting parameter "${host.toLowerCase()}"`;
}

/** Adds the names of the server around a block; returns what is wrong with the first that cannot be added. */
function addServerNames(table: RefererTable, block: Block): string | undefined {
  let server = block;
  while (server.context !== In.SERVER) {
    server = server.parent!;
  }
  const names = (server.info as LocationInfo).serverNames ?? [];
  for (const { name, regex } of names) {
    const problem = regex === undefined ? added(table, name, '') : undefined;
    if (problem !== undefined) {
      return problem;
    }
    if (regex !== undefined) {
      table.serverRegexes = [...(table.serverRegexes ?? []), regex];
    }
  }
  // A server without names has the empty one.
  return names.length === 0 ? added(table, '', '') : undefined;
}

const slot = new LocationSlot<Settings>();

/** Tells requests that come from other sites' pages. nginx: ngx_http_referer_module. */
export const refererModule = defineModule({
  name: 'referer',
  location: scope,
  slot,
  variables: [
    {
      name: 'invalid_referer',
      changeable: true,
      get: (r) => (r.location.conf(slot).table?.isValid(r, r.header('referer')) === false ? '1' : ''),
    },
  ],
});
