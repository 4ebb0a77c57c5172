/**
 * What decisions about a traced task are told to. Whoever decides something worth telling asks whether the client's own task has one; where
 * tracing is off there is none.
 */
export interface TaskTrace {
  /** A decision was made now. `detail`: why, or whose it was; or an empty text. */
  event(name: 'cache' | 'limit_req' | 'limit_conn', status: string, detail: string): void;
}
