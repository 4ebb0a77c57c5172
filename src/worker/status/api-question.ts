/** What the API answers: a status, and what becomes the JSON text of the body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** What was changed, for the log. */
  readonly did?: string;
}

/** What the API was asked. */
export interface Question {
  readonly method: string;
  /** What follows the location's prefix, without slashes at its ends, as UTF-8. */
  readonly path: string;
  /** The value of `fields`; undefined: all. */
  readonly fields: string | undefined;
  /** The value of `key`. */
  readonly key?: string | undefined;
  /** `write=on`. */
  readonly write: boolean;
  /** The body of the request. */
  readonly body?: string;
}

/** An error in the API's form. */
export const apiError = (status: number, code: string, text: string): Answer => ({ status, body: { error: { status, text, code } } });

/** An answer that is thrown, as an error of the API. */
export class ApiRefusal extends Error {
  readonly answer: Answer;
  constructor(status: number, code: string, text: string) {
    super(text);
    this.answer = apiError(status, code, text);
  }
}

/** Does something; returns the answer that refuses it, if that is thrown. */
export function refusalOf(work: () => void): Answer | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiRefusal) {
      return error.answer;
    }
    throw error;
  }
}

/** Refuses a request whose change found the zone of the counters busy. */
export function insistCounted(done: boolean): void {
  if (!done) {
    throw new ApiRefusal(503, 'CountersBusy', 'the zone is busy');
  }
}
