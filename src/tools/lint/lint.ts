import { diagnosticDetail } from '../../shared/config/errors.js';
import { argPosition, type Pos } from '../../shared/config/language/ast.js';
import type { Sources } from '../../shared/config/sources.js';
import { deadAccessRule, errorLogOff, returnBeforeAccess } from './access-rules.js';
import { openPurge, tagsOfRequest, tagsWithoutCache } from './cache-rules.js';
import { lostHeaders, twoCacheControls } from './header-rules.js';
import { aliasSlash, evilIf, ifFile, patternWithoutTilde, unreachable } from './location-rules.js';
import {
  loginOfAnyTenant,
  loginOnOtherHost,
  loginWithoutPkce,
  loginWithoutTls,
  longLogin,
  looseSignature,
  readableSecret,
  sharedRedirect,
  shortClientSecret,
} from './login-rules.js';
import { bareDot, endInside, slowPattern } from './pattern-rules.js';
import { missingResolver, openProxy, proxySlash } from './proxying-rules.js';
import { decodedRedirect, looseOrigin, spoofedHost } from './redirect-rules.js';
import type { Found, Rule } from './rule.js';
import { sharedState } from './script-rules.js';
import { noDefaultServer, oddServerName, plainHttps, weakTls } from './server-rules.js';
import { type Silence, silences } from './silence.js';
import { plainTokenKeys, tokenForAnybody, tokenInUrl, weakTokenKey } from './token-rules.js';
import { directivesOf } from './tree.js';

/** All rules. One more is a constant in a file of rules, a line here, and a case in the test. */
export const rules: readonly Rule[] = [
  aliasSlash,
  proxySlash,
  decodedRedirect,
  spoofedHost,
  openProxy,
  looseOrigin,
  slowPattern,
  bareDot,
  endInside,
  patternWithoutTilde,
  lostHeaders,
  twoCacheControls,
  evilIf,
  ifFile,
  unreachable,
  deadAccessRule,
  returnBeforeAccess,
  missingResolver,
  tagsWithoutCache,
  tagsOfRequest,
  openPurge,
  noDefaultServer,
  oddServerName,
  plainHttps,
  weakTls,
  errorLogOff,
  sharedState,
  tokenForAnybody,
  weakTokenKey,
  plainTokenKeys,
  tokenInUrl,
  readableSecret,
  loginWithoutPkce,
  loginWithoutTls,
  loginOnOtherHost,
  sharedRedirect,
  longLogin,
  loginOfAnyTenant,
  shortClientSecret,
  looseSignature,
];

/** One finding, ready to be shown. Texts are latin1. */
export interface LintFinding {
  readonly rule: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
  readonly remedy: string;
  /** The line of the source with a caret under the place; ends in a line feed. */
  readonly excerpt: string;
}

/** Looks for what `-t` accepts and what is wrong nevertheless, in a configuration and all files that it includes, in their order. */
export function lintConfiguration(sources: Sources): readonly LintFinding[] {
  const top = directivesOf(sources);
  const silent = new Silences(sources);
  const findings: LintFinding[] = [];
  for (const rule of rules) {
    for (const found of rule.check(top, sources)) {
      const pos = placeOf(found);
      if (!silent.silenced(rule.name, found.at.node.pos)) {
        findings.push(finding(rule.name, pos, found.problem, found.remedy, sources));
      }
    }
  }
  for (const { pos, silence } of silent.unusable()) {
    const [problem, remedy] =
      silence.reason === ''
        ? ['a comment that silences a rule has to say why', `# lint-ignore ${silence.rules.join(', ')}: REASON`]
        : ['the comment names a rule that there is not', '`sluice lint --rules` lists them'];
    findings.push(finding('lint-ignore', pos, problem, remedy, sources));
  }
  const order = new Map(sources.order.map((file, index) => [file, index]));
  return unique(findings).sort((a, b) => (order.get(a.file) ?? -1) - (order.get(b.file) ?? -1) || a.line - b.line || a.column - b.column);
}

function finding(rule: string, pos: Pos, problem: string, remedy: string, sources: Sources): LintFinding {
  const excerpt = diagnosticDetail({ level: 'warn', message: '', pos }, (file) => sources.text(file));
  return { rule, ...pos, problem, remedy, excerpt };
}

/** A file that is included twice gives each of its findings once. */
function unique(findings: readonly LintFinding[]): LintFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, file, line, column }) => {
    const key = `${rule} ${file}:${line}:${column}`;
    return !seen.has(key) && seen.add(key);
  });
}

function placeOf({ at, arg }: Found): Pos {
  const place = arg === undefined ? undefined : argPosition(at.node, arg);
  return place === undefined ? at.node.pos : { file: at.node.pos.file, line: place[0], column: place[1] };
}

/** The comments of all files that silence rules. */
class Silences {
  readonly #sources: Sources;
  readonly #files = new Map<string, ReadonlyMap<number, readonly Silence[]>>();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  silenced(rule: string, { file, line }: Pos): boolean {
    return (this.#of(file).get(line) ?? []).some((silence) => silence.reason !== '' && silence.rules.includes(rule));
  }

  /** Comments without a reason, and those that name no rule. */
  unusable(): { readonly pos: Pos; readonly silence: Silence }[] {
    const known = new Set(rules.map(({ name }) => name));
    return this.#sources.order.flatMap((file) =>
      [...this.#of(file).values()]
        .flat()
        .filter(({ reason, rules: named }) => reason === '' || named.some((name) => !known.has(name)))
        .map((silence) => ({ pos: { file, line: silence.line, column: 1 }, silence })),
    );
  }

  #of(file: string): ReadonlyMap<number, readonly Silence[]> {
    let found = this.#files.get(file);
    if (found === undefined) {
      found = silences(this.#sources.text(file) ?? '');
      this.#files.set(file, found);
    }
    return found;
  }
}
