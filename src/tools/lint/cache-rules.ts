import type { Rule } from './rule.js';
import { effective, everything, type LintedDirective } from './tree.js';

const isOff = ({ args }: LintedDirective): boolean => args.length === 1 && args[0] === 'off';
const familyOf = (name: string): string | undefined => /^(proxy|fastcgi|scgi|uwsgi)_cache_tag$/.exec(name)?.[1];

/** Whether a cache holds in a block, or in one inside of it. */
function caches(block: LintedDirective, family: string): boolean {
  const name = `${family}_cache`;
  return (
    effective(block, name).some((cache) => !isOff(cache)) ||
    [...everything(block.inside)].some((inner) => inner.name === name && !isOff(inner))
  );
}

/** Tags are those of entries: where nothing is kept, nothing has them. */
export const tagsWithoutCache: Rule = {
  name: 'tags-without-cache',
  about: 'cache tags for responses that no cache keeps',
  *check(top) {
    for (const tag of everything(top)) {
      const family = familyOf(tag.name);
      if (family !== undefined && !isOff(tag) && tag.parent !== undefined && !caches(tag.parent, family)) {
        yield {
          at: tag,
          problem: `no \`${family}_cache\` holds here, so no response is kept and none has these tags`,
          remedy: `${family}_cache ZONE;`,
        };
      }
    }
  },
};

/** A header of the request in place of the backend's lets clients choose what a purge takes. */
export const tagsOfRequest: Rule = {
  name: 'tags-of-request',
  about: 'cache tags that the client gives',
  *check(top) {
    for (const tag of everything(top)) {
      const arg = familyOf(tag.name) === undefined ? -1 : tag.args.findIndex((text) => /\$\{?(?:http|arg|cookie)_\w/.test(text));
      if (arg !== -1) {
        const name = /\$\{?(\w+)/.exec(tag.args[arg]!)![1]!;
        yield {
          at: tag,
          arg,
          problem: `the client chooses the tags of what is kept with \`$${name}\``,
          remedy: name.startsWith('http_')
            ? `$upstream_${name}, the header of the response`
            : 'what the response or the configuration says',
        };
      }
    }
  },
};

/** A key in a purge location that the request gives is a purge for everybody who may ask. */
export const openPurge: Rule = {
  name: 'open-purge',
  about: 'purges that everybody may make',
  *check(top) {
    for (const purge of everything(top)) {
      const { args, parent } = purge;
      if (!/^(?:proxy|fastcgi|scgi|uwsgi)_cache_purge$/.test(purge.name) || parent === undefined) {
        continue;
      }
      const toAll = args[1] === 'from' && args[2] === 'all';
      const byMethod = args.length === 1 && /^\$\{?request_method\}?$/.test(args[0]!);
      const guarded = [
        'allow',
        'deny',
        'auth_basic',
        'auth_jwt',
        'auth_api_key',
        'auth_request',
        'auth_require',
        'auth_oidc',
        'internal',
      ].some((name) => effective(parent, name).length > 0);
      if ((toAll || byMethod) && !guarded) {
        yield {
          at: purge,
          problem: toAll
            ? 'everybody may purge what is kept'
            : 'the condition holds for each request, so that all of them purge and none is answered',
          remedy: toAll
            ? '`from` with addresses, or `allow` and `deny`'
            : 'a `map` from the method to 0 or 1, and `geo` for the addresses that may',
        };
      }
    }
  },
};
