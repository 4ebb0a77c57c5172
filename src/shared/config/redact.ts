import { type RawToken, rawTokens } from './language/raw-tokens.js';

/** What stands in the place of what is not shown. */
export const HIDDEN = '(hidden)';

/** Names of headers, variables, parameters and settings whose values are nobody else's business. */
const SECRET_NAME =
  /passw|passphrase|secret|credential|authorization|cookie|private|signature|hmac|salt|token|(?:account|api|access|auth|shared|session|encryption|signing)[-_]?key|(?:^|_)(?:pwd|pw|pass)$/i;
/** Settings that are called so and have no secret: files, sizes, times and names. */
const HARMLESS_SETTING =
  /_(?:file|path|url|zone|cache|request|pass|lifetime|timeout|name|domain|flags|temp)$|^(?:server_tokens|userid|\w+_hide_header|\w+_pass_header)/;
/** Settings all of whose arguments are secrets, or texts that contain one. */
const SECRET_SETTING = /^(?:secure_link_secret|secure_link_md5|auth_api_key|explain_token|client_secret|zone_sync_auth)$/;
/** Values that say nothing. */
const PLAIN_VALUE = /^(?:on|off|none|default|always|!?[=~]\*?|-?\d{1,5}[smhdwyMkKgGb]*|\$\w+|\$\{\w+\}|)$/;
/** Settings whose arguments are the name of something, and its value. */
const PAIRS = /(?:_set_header|_param|^add_header|^add_trailer|^set|^js_var|^if|^header)$/;
/** Long, and without order: letters and digits such as keys and tokens have. */
const RANDOM = /^(?=[^/.$]*\d)(?=.*[A-Za-z])[A-Za-z0-9+/=_-]{20,}$|^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*$/;
/** Blocks whose entries are what the name is looked up by, and its value. */
const TABLES = new Set(['map', 'geo', 'keyval', 'split_clients']);
const TABLE_WORDS = new Set(['default', 'hostnames', 'volatile', 'include', 'ranges', 'proxy', 'proxy_recursive', 'delete']);

/**
 * The text of a configuration without its secrets, for being shown: the same lines, in which {@link HIDDEN} stands for passwords, keys,
 * tokens and what looks like one. Rules know a secret by what it is called and by how it looks, so that it may still have one that is
 * called `x`.
 */
export function redactConfiguration(text: string): string {
  const edits: Edit[] = [];
  let words: RawToken[] = [];
  const tables: (readonly RawToken[] | undefined)[] = [];
  const finish = (): void => {
    for (const [i, instead] of statement(words, tables.at(-1))) {
      edits.push({ token: words[i]!, instead });
    }
  };
  for (const token of rawTokens(text)) {
    if (token.kind === 'word') {
      words.push(token);
    } else if (token.kind === 'comment') {
      edits.push({ token, instead: redactComment(token.text) });
    } else {
      finish();
      if (token.kind === '{') {
        tables.push(TABLES.has(wordOf(words[0])) ? words : undefined);
      } else if (token.kind === '}') {
        tables.pop();
      }
      words = [];
    }
  }
  finish();
  let [shown, end] = ['', 0];
  for (const { token, instead } of edits.sort((a, b) => a.token.start - b.token.start)) {
    shown += text.slice(end, token.start) + instead;
    end = token.start + token.text.length;
  }
  return shown + text.slice(end);
}

interface Edit {
  readonly token: RawToken;
  readonly instead: string;
}

/** A line of a log or a message without what looks like a secret. */
export function redactLine(line: string): string {
  return line
    .replace(/\b(Basic|Bearer|Digest|Negotiate)\s+[^\s"',;]{4,}/gi, `$1 ${HIDDEN}`)
    .replace(/(:\/\/)[^\s/"'@]+@/g, `$1${HIDDEN}@`)
    .replace(
      /([?&;\s"'](?:[\w-]{0,40}(?:passw|secret|token|api[-_]?key|credential|signature|sig|code|session)[\w-]{0,40})=)[^&\s"';]+/gi,
      `$1${HIDDEN}`,
    )
    .replace(/\bdata:[^\s"';]{8,}/g, `data:${HIDDEN}`)
    .replace(/-----BEGIN[\s\S]*?(?:-----END[^\n]*-----|$)/g, HIDDEN);
}

const redactComment = (text: string): string =>
  SECRET_NAME.test(text) || text.split(/[\s"'=;]+/).some((word) => RANDOM.test(word)) ? `# ${HIDDEN}` : redactLine(text);

/** What is shown in place of words of a statement. */
function statement(words: readonly RawToken[], table: readonly RawToken[] | undefined): [word: number, instead: string][] {
  const values = words.map(wordOf);
  const [name = ''] = values;
  const found: [number, string][] = [];
  if (table !== undefined && name !== 'include') {
    const [by, to] = [table.slice(1, -1), table.slice(-1)].map((some) => some.some((word) => SECRET_NAME.test(wordOf(word))));
    for (const [i, value] of values.entries()) {
      hide(found, words[i]!, i, value, i === 0 ? by! && !TABLE_WORDS.has(name) : to!);
    }
    return found;
  }
  const secret = SECRET_SETTING.test(name) || (SECRET_NAME.test(name) && !HARMLESS_SETTING.test(name));
  // Of `proxy_set_header NAME VALUE`, `set $NAME VALUE` and the like.
  let named = false;
  values.forEach((value, i) => {
    if (i > 0) {
      hide(found, words[i]!, i, value, secret || named);
      named ||= PAIRS.test(name) && SECRET_NAME.test(value) && /^\(?[\w$-]+$/.test(value);
    }
  });
  return found;
}

/** A short word without any of these can be no secret by its looks. */
const MARKS = /[=:?&;\s]/;
const LONGEST_PLAIN = 16;

function hide(found: [number, string][], { text }: RawToken, i: number, value: string, secret: boolean): void {
  if (!secret && value.length < LONGEST_PLAIN && !MARKS.test(value)) {
    return;
  }
  // Lines stay where they are.
  const lines = '\n'.repeat(text.split('\n').length - 1);
  if ((secret && !PLAIN_VALUE.test(value)) || /^data:|-----BEGIN /.test(value)) {
    found.push([i, `"${HIDDEN}"${lines}`]);
    return;
  }
  const [, parameter, given] = /^([\w-]+)=([\s\S]+)$/.exec(value) ?? [];
  if (parameter !== undefined && given !== undefined && SECRET_NAME.test(parameter) && !PLAIN_VALUE.test(given) && !given.startsWith('/')) {
    found.push([i, `${parameter}=${HIDDEN}${lines}`]);
    return;
  }
  if (RANDOM.test(value) || (given !== undefined && RANDOM.test(given))) {
    found.push([i, `"${HIDDEN}"${lines}`]);
    return;
  }
  const shown = redactLine(text);
  if (shown !== text) {
    found.push([i, shown + '\n'.repeat(Math.max(0, lines.length - (shown.split('\n').length - 1)))]);
  }
}

function wordOf(token: RawToken | undefined): string {
  const text = token?.text ?? '';
  const quote = text[0];
  return quote === '"' || quote === "'" ? text.slice(1, text.endsWith(quote) && text.length > 1 ? -1 : undefined) : text;
}
