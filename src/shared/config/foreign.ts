/** What a file that `load_module` names holds, as far as this program has to do with it. */
export interface NativeModule {
  readonly builtIn: boolean;
  /** Whether it would bring an unknown directive along. */
  has(directive: string): boolean;
}

/** Which third-party module a directive is of, or which other program, and what does the same here; empty where nothing does. */
export interface ForeignDirective {
  readonly module: string;
  readonly product: boolean;
  readonly instead: string;
}

/** The rest of a sentence that begins with the directive. */
export const foreignText = ({ module, product, instead }: ForeignDirective): string =>
  `${product ? `${module}, and neither nginx nor sluice has it` : `the third-party module ${module}, which sluice does not have`}${instead === '' ? '' : `; ${instead}`}`;
