import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { escapeHtml, escapeUri } from '../../http/syntax/uri-escape.js';
import { isTrue } from './condition.js';
import { evaluate, variable } from './evaluate.js';
import { include } from './include.js';
import { AFTER_ELSE, AFTER_IF, NO_CONDITION, SUCCEEDED, UNSUCCESSFUL } from './outcome.js';
import type { SsiPage } from './page.js';

/** A command of pages. */
export interface Command {
  /** The parameters it knows; true for those it cannot do without. */
  readonly params: { readonly [name: string]: boolean };
  /** The latest point of a condition it may stand at; 0 for commands that belong to none. */
  readonly within: number;
  /** Works inside a block, too. */
  readonly endsBlock?: true;
  run(r: Request, page: SsiPage, values: { readonly [name: string]: string }): number;
}

/** nginx: ngx_http_ssi_commands. */
export const commands: { readonly [name: string]: Command } = {
  include: { params: { virtual: false, file: false, wait: false, set: false, stub: false }, within: NO_CONDITION, run: include },
  echo: { params: { var: true, default: false, encoding: false }, within: NO_CONDITION, run: echo },
  config: {
    params: { errmsg: false, timefmt: false },
    within: NO_CONDITION,
    run(_r, page, values) {
      page.timeFormat = values['timefmt'] ?? page.timeFormat;
      page.errorText = values['errmsg'] ?? page.errorText;
      return SUCCEEDED;
    },
  },
  set: {
    params: { var: true, value: true },
    within: NO_CONDITION,
    run(r, page, values) {
      const value = evaluate(r, page.shared, values['value']!);
      if (value === undefined) {
        return UNSUCCESSFUL;
      }
      page.shared.variables.set(values['var']!.toLowerCase(), value);
      return SUCCEEDED;
    },
  },
  if: {
    params: { expr: true },
    within: NO_CONDITION,
    run(r, page, values) {
      if (page.condition !== NO_CONDITION) {
        r.log(ERROR, 'the "if" command inside the "if" command');
        return UNSUCCESSFUL;
      }
      return choose(r, page, values['expr']!);
    },
  },
  elif: { params: { expr: true }, within: AFTER_IF, run: (r, page, values) => choose(r, page, values['expr']!) },
  else: {
    params: {},
    within: AFTER_IF,
    run(_r, page) {
      page.shown = !page.chosen;
      page.condition = AFTER_ELSE;
      return SUCCEEDED;
    },
  },
  endif: {
    params: {},
    within: AFTER_ELSE,
    run(_r, page) {
      page.shown = true;
      page.chosen = false;
      page.condition = NO_CONDITION;
      return SUCCEEDED;
    },
  },
  block: {
    params: { name: true },
    within: NO_CONDITION,
    run(_r, page, values) {
      page.shared.blocks.push({ name: values['name']!, pieces: [] });
      page.shown = false;
      page.inBlock = true;
      return SUCCEEDED;
    },
  },
  endblock: {
    params: {},
    within: NO_CONDITION,
    endsBlock: true,
    run(_r, page) {
      page.shown = true;
      page.inBlock = false;
      return SUCCEEDED;
    },
  },
};

// nginx: ngx_http_ssi_if.
function choose(r: Request, page: SsiPage, expression: string): number {
  if (page.chosen) {
    page.shown = false;
    return SUCCEEDED;
  }
  const chosen = isTrue(r, page.shared, expression);
  if (chosen === undefined) {
    return UNSUCCESSFUL;
  }
  page.shown = chosen;
  if (chosen) {
    page.chosen = true;
  }
  page.condition = AFTER_IF;
  return SUCCEEDED;
}

// nginx: ngx_http_ssi_echo.
function echo(r: Request, page: SsiPage, values: { readonly [name: string]: string }): number {
  const value = variable(r, page.shared, values['var']!) ?? values['default'] ?? '(none)';
  if (value === '') {
    return SUCCEEDED;
  }
  const { encoding } = values;
  if (encoding === 'none' || encoding === 'url' || encoding === 'entity') {
    page.encoding = encoding;
  } else if (encoding !== undefined) {
    r.log(ERROR, `unknown encoding "${encoding}" in the "echo" command`);
  }
  page.write(page.encoding === 'none' ? value : page.encoding === 'url' ? escapeUri(value, 'html') : escapeHtml(value));
  return SUCCEEDED;
}
