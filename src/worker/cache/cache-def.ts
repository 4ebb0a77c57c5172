/** A `*_cache_path` line. nginx: ngx_http_file_cache_t. */
export interface CacheDef {
  /** The directive, such as `proxy_cache_path`. */
  readonly directive: string;
  readonly path: string;
  readonly levels: readonly number[];
  /** Responses are written in the temporary folder of the location and moved. */
  readonly useTempPath: boolean;
  /** Seconds. */
  readonly inactive: number;
  /** Bytes; Infinity: no limit. */
  readonly maxSize: number;
  /** Bytes that are to stay free on the disk; 0: none. */
  readonly minFree: number;
  readonly loader: HelperPace;
  readonly manager: HelperPace;
  /** Set: a process sweeps what a wildcard purge left. */
  readonly purger: HelperPace | undefined;
  /** All machines of a fleet make the purges of one. */
  readonly sync: boolean;
}

/** How a helper process works: so many files in a row, or for so long, then a pause. Milliseconds. */
export interface HelperPace {
  readonly files: number;
  readonly sleep: number;
  readonly threshold: number;
}
