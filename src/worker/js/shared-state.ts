/** A variable at the top of a module that some function assigns. Lines count from 1. */
export interface SharedVariable {
  readonly name: string;
  readonly line: number;
  readonly assignedAt: number;
}

/** What sucrase's parser tells of a word; `start` and `end` are places in the text. */
interface Token {
  readonly start: number;
  readonly end: number;
  readonly scopeDepth: number;
  readonly isType: boolean;
  readonly identifierRole: number | null;
}

/** A function, a block, or the whole module, from one token up to another. */
interface Scope {
  readonly startTokenIndex: number;
  readonly endTokenIndex: number;
  readonly isFunctionScope: boolean;
}

/** A module as the parser gives it. */
interface Parsed {
  readonly tokens: readonly Token[];
  readonly scopes: readonly Scope[];
}

// What sucrase's parser says of an identifier (IdentifierRole).
const ACCESS = 0;
const SHORTHAND = 8;
const TOP_LEVEL = new Set([2, 5]);
const IN_FUNCTION = new Set([3, 6]);
const IN_BLOCK = new Set([4, 7]);

const ASSIGNMENT = /^(?:[-+*/%&|^]|\*\*|<<|>>>?|\|\||&&|\?\?)?=$/;

/**
 * The variables of a module that outlive a request: `let` and `var` at its top that a function assigns by name. What is destructured, and
 * what becomes of an object that stays the same, is not looked for. The work grows with the text, times the depth of its functions.
 */
export function sharedVariables(source: string, { tokens, scopes }: Parsed): SharedVariable[] {
  const text = (token: Token | undefined): string => (token === undefined ? '' : source.slice(token.start, token.end));
  const declared = topVariables(tokens, text);
  if (declared.size === 0) {
    return [];
  }
  const inner = new Map<Scope, Set<string>>();
  eachToken(tokens, scopes, (token, _i, around) => {
    const { identifierRole: role } = token;
    if (role !== null && (IN_FUNCTION.has(role) || IN_BLOCK.has(role)) && declared.has(text(token))) {
      const scope = IN_BLOCK.has(role) ? around.at(-1) : around.findLast(({ isFunctionScope }) => isFunctionScope);
      const names = scope && (inner.get(scope) ?? new Set());
      if (names !== undefined) {
        inner.set(scope!, names.add(text(token)));
      }
    }
  });
  const isStep = (token: Token | undefined): boolean => /^(?:\+\+|--)$/.test(text(token));
  const isAssigned = (i: number): boolean => {
    const next = tokens[i + 1];
    const before = tokens[i - 1];
    const together = (a: Token, b: Token): boolean => !source.slice(a.end, b.start).includes('\n');
    return (
      ASSIGNMENT.test(text(next)) || (isStep(next) && together(tokens[i]!, next!)) || (isStep(before) && together(before!, tokens[i]!))
    );
  };
  const assigned = new Map<string, Token>();
  eachToken(tokens, scopes, (token, i, around) => {
    const { identifierRole: role } = token;
    const name = role === ACCESS || role === SHORTHAND ? text(token) : '';
    if (!declared.has(name) || assigned.has(name) || token.isType || !isAssigned(i)) {
      return;
    }
    // The module itself is a scope, too.
    const functions = around.some((scope) => scope.isFunctionScope && scope.startTokenIndex > 0);
    if (functions && !around.some((scope) => inner.get(scope)?.has(name))) {
      assigned.set(name, token);
    }
  });
  return [...assigned].map(([name, token]) => ({
    name,
    line: lineOf(source, declared.get(name)!.start),
    assignedAt: lineOf(source, token.start),
  }));
}

/** What `let` and `var` declare outside of functions and blocks. */
function topVariables(tokens: readonly Token[], text: (token: Token | undefined) => string): Map<string, Token> {
  const declared = new Map<string, Token>();
  let changes = false;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const { identifierRole: role } = token;
    if (role !== null && TOP_LEVEL.has(role)) {
      if (changes && !/^(?:function|class|\*)$/.test(text(tokens[i - 1]))) {
        declared.set(text(token), token);
      }
    } else if (token.scopeDepth === 0 && role === null && /^(?:let|var|const)$/.test(text(token))) {
      changes = text(token) !== 'const';
    }
  }
  return declared;
}

/** Goes through the tokens with the scopes around each, from the outermost on. */
function eachToken(
  tokens: readonly Token[],
  scopes: readonly Scope[],
  look: (token: Token, i: number, around: readonly Scope[]) => void,
): void {
  const coming = [...scopes].sort((a, b) => b.startTokenIndex - a.startTokenIndex || a.endTokenIndex - b.endTokenIndex);
  const around: Scope[] = [];
  for (let i = 0; i < tokens.length; i++) {
    while (around.length > 0 && around.at(-1)!.endTokenIndex <= i) {
      around.pop();
    }
    while (coming.length > 0 && coming.at(-1)!.startTokenIndex <= i) {
      around.push(coming.pop()!);
    }
    look(tokens[i]!, i, around);
  }
}

const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length;
