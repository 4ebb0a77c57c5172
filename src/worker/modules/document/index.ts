import { realpathSync } from 'node:fs';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { accepted, flag, msec, oneOf, parseInteger, text } from '../../../shared/config/slots.js';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { constantValue } from '../../../shared/value/complex.js';
import { type DocumentSettings, documentSlot } from '../../http/request/document-settings.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { documentRoot, mapPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope, type Variable } from '../../module.js';
import { SERVER_NAME, SERVER_VERSION } from '../../version.js';

const HTTP_SERVER_LOCATION = In.HTTP | In.SERVER | In.LOCATION;

/** What is there without a `types` block. nginx: ngx_http_core_default_types. */
const DEFAULT_TYPES: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html'],
  ['gif', 'image/gif'],
  ['jpg', 'image/jpeg'],
]);

/** Stands for the folder `html` of the prefix, which is not known here. */
const DEFAULT_ROOT = constantValue<Request>('');

/** A path as it stands before the URI: complete, unless a variable begins it. */
const completed = (path: string, ctx: Context): string => (path.startsWith('$') || path.startsWith('/') ? path : ctx.path(path));

const scope = defineScope<DocumentSettings>({
  fields: {
    root: inherit<ComplexValue<Request>>(DEFAULT_ROOT),
    alias: inherit(0),
    types: inherit<ReadonlyMap<string, string>>(DEFAULT_TYPES),
    defaultType: inherit('text/plain'),
    etag: inherit(true),
    ifModifiedSince: inherit<'off' | 'exact' | 'before'>('exact'),
    internal: inherit(false),
    satisfy: inherit<'all' | 'any'>('all'),
    authDelay: inherit(0),
    logNotFound: inherit(true),
    logSubrequest: inherit(false),
    serverTokens: inherit<ComplexValue<Request>>(constantValue(`${SERVER_NAME}/${SERVER_VERSION}`)),
  },
  finish(conf, _parent, { prefix }) {
    if (conf.root === DEFAULT_ROOT) {
      conf.root = constantValue(`${prefix}html`);
    }
  },
  directives: {
    root: {
      in: HTTP_SERVER_LOCATION | In.LOCATION_IF,
      args: 1,
      set(conf, node, ctx) {
        if (conf.root !== undefined) {
          ctx.reject(conf.alias ? 'is duplicate, "alias" directive was specified earlier' : 'is duplicate');
        }
        if (/\$\{?document_root\b/.test(node.args[0]!)) {
          ctx.fail('the $document_root variable cannot be used in the "root" directive');
        }
        if (/\$\{?realpath_root\b/.test(node.args[0]!)) {
          ctx.fail('the $realpath_root variable cannot be used in the "root" directive');
        }
        // A location with a root of its own does not take over the alias around it.
        conf.alias = 0;
        conf.root = ctx.complex(completed(node.args[0]!, ctx).replace(/\/$/, ''));
      },
    },
    alias: {
      in: In.LOCATION,
      args: 1,
      set(conf, node, ctx) {
        if (conf.root !== undefined) {
          ctx.reject(conf.alias ? 'is duplicate' : 'is duplicate, "root" directive was specified earlier');
        }
        if ((ctx.block.info as LocationInfo).kind === 'named') {
          ctx.fail('the "alias" directive cannot be used inside the named location');
        }
        if (/\$\{?document_root\b/.test(node.args[0]!)) {
          ctx.fail('the $document_root variable cannot be used in the "alias" directive');
        }
        if (/\$\{?realpath_root\b/.test(node.args[0]!)) {
          ctx.fail('the $realpath_root variable cannot be used in the "alias" directive');
        }
        const info = ctx.block.info as LocationInfo;
        conf.alias = info.kind === 'regex' ? -1 : info.name.length;
        conf.root = ctx.complex(completed(node.args[0]!, ctx));
      },
    },
    types: {
      in: HTTP_SERVER_LOCATION,
      args: 0,
      block: 'entries',
      set(conf, node, ctx) {
        const types = new Map(conf.types);
        ctx.entries(node, (entry) => {
          for (const extension of entry.args) {
            const key = extension.toLowerCase();
            const before = types.get(key);
            if (before !== undefined) {
              ctx.warn(`duplicate extension "${extension}", content type: "${entry.name}", previous content type: "${before}"`);
            }
            types.set(key, entry.name);
          }
        });
        conf.types = types;
      },
    },
    types_hash_max_size: { in: HTTP_SERVER_LOCATION, args: 1, set: accepted((ctx) => void parseInteger(ctx.node.args[0]!, ctx, 0)) },
    types_hash_bucket_size: { in: HTTP_SERVER_LOCATION, args: 1, set: accepted((ctx) => void parseInteger(ctx.node.args[0]!, ctx, 0)) },
    default_type: { in: HTTP_SERVER_LOCATION, args: 1, set: text('defaultType') },
    etag: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('etag') },
    if_modified_since: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: oneOf('ifModifiedSince', { off: 'off', exact: 'exact', before: 'before' } as const),
    },
    internal: {
      in: In.LOCATION,
      args: 0,
      set(conf, _node, ctx) {
        if (conf.internal !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.internal = true;
      },
    },
    satisfy: { in: HTTP_SERVER_LOCATION, args: 1, set: oneOf('satisfy', { all: 'all', any: 'any' } as const) },
    auth_delay: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('authDelay') },
    log_not_found: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('logNotFound') },
    log_subrequest: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('logSubrequest') },
    server_tokens: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set(conf, node, ctx) {
        if (conf.serverTokens !== undefined) {
          ctx.reject('is duplicate');
        }
        const word = node.args[0]!;
        if (word === 'on' || word === 'build') {
          conf.serverTokens = constantValue(`${SERVER_NAME}/${SERVER_VERSION}`);
        } else if (word === 'off') {
          conf.serverTokens = constantValue(SERVER_NAME);
        } else {
          ctx.fail(`invalid value "${word}"`, { arg: 0, hint: 'it is one of on, off, build' });
        }
      },
    },
  },
});

const variables: readonly Variable[] = [
  { name: 'document_root', cacheable: false, get: documentRoot },
  { name: 'realpath_root', cacheable: false, get: realpathRoot },
  { name: 'request_filename', cacheable: false, get: mapPath },
];

// nginx: ngx_http_variable_realpath_root.
function realpathRoot(r: Request): string | undefined {
  const root = documentRoot(r);
  try {
    return realpathSync.native(fsPath(root), 'latin1');
  } catch (error) {
    r.log(CRIT, `realpath() "${root}" failed (${errnoText(error)})`);
    return undefined;
  }
}

/**
 * What a location's documents are: where they lie, of which types, and how they are named to clients. nginx: part of
 * ngx_http_core_module.
 */
export const documentModule = defineModule({
  name: 'document',
  location: scope,
  variables,
  slot: documentSlot,
});
