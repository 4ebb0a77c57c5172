import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { Request } from '../../http/request/request.js';
import { BROWSER, browserFlags } from '../../http/syntax/browser.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { defineModule, defineScope } from '../../module.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { isModern, MODERN_BROWSERS, type ModernBrowser, parseVersion, UNREACHABLE } from './modern.js';

/** Which browsers count as modern. nginx: ngx_http_browser_conf_t. */
interface Settings {
  /** Null where no line says so. */
  modern: readonly ModernBrowser[] | null;
  modernUnlisted: boolean;
  ancient: readonly string[];
  netscape4: boolean;
  modernValue: string;
  ancientValue: string;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<Settings>({
  fields: {
    modern: inherit<readonly ModernBrowser[] | null>(null),
    modernUnlisted: inherit(false),
    ancient: inherit<readonly string[]>([]),
    netscape4: inherit(false),
    modernValue: inherit('1'),
    ancientValue: inherit('1'),
  },
  directives: {
    // Syntax: modern_browser browser version | unlisted;
    modern_browser: {
      in: ANYWHERE,
      args: [1, 2],
      set(conf, node, ctx) {
        const [name, text] = node.args as [string, string | undefined];
        // A line takes over neither list nor flag from outside. nginx: ngx_http_browser_merge_conf.
        conf.modern ??= null;
        conf.modernUnlisted ??= false;
        if (text === undefined) {
          // nginx fails without a word here.
          if (name !== 'unlisted') {
            ctx.reject('invalid value', { arg: 0 });
          }
          conf.modernUnlisted = true;
          return;
        }
        const mark = MODERN_BROWSERS.find((known) => known.browser === name.toLowerCase());
        if (mark === undefined) {
          return ctx.fail(`unknown browser name "${name}"`, { arg: 0 });
        }
        const version = parseVersion(text);
        if (version === undefined) {
          return ctx.fail(`invalid browser version "${text}"`, { arg: 1 });
        }
        // Browsers that pretend to be others come first. Opera is looked for always: it may pretend to be MSIE.
        const lines = conf.modern ?? [{ mark: MODERN_BROWSERS[0]!, version: UNREACHABLE }];
        const own = lines.filter((line) => line.version !== UNREACHABLE || line.mark !== mark);
        conf.modern = [...own, { mark, version }].sort((a, b) => MODERN_BROWSERS.indexOf(a.mark) - MODERN_BROWSERS.indexOf(b.mark));
      },
    },
    // Syntax: ancient_browser string ...;
    ancient_browser: {
      in: ANYWHERE,
      args: { min: 1 },
      set(conf, node) {
        conf.netscape4 = (conf.netscape4 ?? false) || node.args.includes('netscape4');
        conf.ancient = [...(conf.ancient ?? []), ...node.args.filter((text) => text !== 'netscape4')];
      },
    },
    modern_browser_value: {
      in: ANYWHERE,
      args: 1,
      set(conf, node) {
        conf.modernValue = node.args[0]!;
      },
    },
    ancient_browser_value: {
      in: ANYWHERE,
      args: 1,
      set(conf, node) {
        conf.ancientValue = node.args[0]!;
      },
    },
  },
});

const slot = new LocationSlot<Settings>();

// nginx: ngx_http_browser.
function modern(r: Request, conf: Readonly<Settings>): boolean {
  const agent = r.head.known(HeaderSlot.userAgent);
  if (agent === undefined) {
    return conf.modernUnlisted;
  }
  if (conf.modern !== null) {
    const verdict = isModern(agent, conf.modern);
    if (verdict !== undefined) {
      return verdict;
    }
    if (!conf.modernUnlisted) {
      return false;
    }
  }
  if (conf.netscape4 && agent.length > 'Mozilla/4.72 '.length && /^Mozilla\/[1-4]/.test(agent)) {
    return false;
  }
  return conf.modernUnlisted && !conf.ancient.some((text) => agent.includes(text));
}

/** Tells modern browsers from ancient ones by their names. nginx: ngx_http_browser_module. */
export const browserModule = defineModule({
  name: 'browser',
  location: scope,
  slot,
  variables: [
    {
      name: 'msie',
      changeable: true,
      get: (r) => ((browserFlags(r.head.known(HeaderSlot.userAgent) ?? '') & BROWSER.MSIE) !== 0 ? '1' : ''),
    },
    { name: 'modern_browser', changeable: true, get: (r) => verdictValue(r, true) },
    { name: 'ancient_browser', changeable: true, get: (r) => verdictValue(r, false) },
  ],
});

// nginx: ngx_http_browser_variable.
function verdictValue(r: Request, wanted: boolean): string {
  const conf = r.location.conf(slot);
  if (modern(r, conf) !== wanted) {
    return '';
  }
  return wanted ? conf.modernValue : conf.ancientValue;
}
