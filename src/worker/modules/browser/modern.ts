/** How a browser is recognized. nginx: ngx_http_modern_browser_mask_t. */
export interface BrowserMark {
  /** The browser's name in the configuration. */
  readonly browser: string;
  /** Where to look from: every such name begins with that much. */
  readonly skip: number;
  /** What stands in the name; the version begins `add` characters later. */
  readonly text: string;
  readonly add: number;
}

const mark = (browser: string, before: string, text: string, add = text.length): BrowserMark => ({
  browser,
  skip: before.length,
  text,
  add,
});

/** The browsers that have versions, in the order in which they are looked for. nginx: ngx_http_modern_browser_masks. */
export const MODERN_BROWSERS: readonly BrowserMark[] = [
  mark('opera', '', 'Opera', 'Opera '.length),
  mark('msie', 'Mozilla/4.0 (compatible; ', 'MSIE '),
  mark('gecko', 'Mozilla/5.0 (', 'rv:'),
  mark('safari', 'Mozilla/5.0 (', 'Safari/'),
  mark('konqueror', 'Mozilla/5.0 (compatible; ', 'Konqueror/'),
];

/** A `modern_browser` line. */
export interface ModernBrowser {
  readonly mark: BrowserMark;
  /** The first version that is modern, as {@link parseVersion} makes it. */
  readonly version: number;
}

/** No version reaches it. */
export const UNREACHABLE = 4_001_000_000;

/** What a version's first part counts; each further one counts a hundredth, and the fifth and on nothing. */
const SCALE = 1_000_000;
const ZERO = 0x30;
const DOT = 0x2e;

/** A version in one number; undefined when the text has more than digits and full stops. */
export function parseVersion(text: string): number | undefined {
  return /^[0-9.]*$/.test(text) ? versionAt(text, 0, Number.POSITIVE_INFINITY) : undefined;
}

/** Reads a version until it ends, or is known to be larger than `limit`. */
function versionAt(text: string, start: number, limit: number): number {
  let version = 0;
  let part = 0;
  let scale = SCALE;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ZERO && code <= ZERO + 9) {
      part = part * 10 + code - ZERO;
    } else if (code !== DOT) {
      break;
    } else {
      version += part * scale;
      if (version > limit) {
        return version;
      }
      part = 0;
      scale = Math.floor(scale / 100);
    }
  }
  return version + part * scale;
}

/** Whether a browser with this name is modern; undefined for one that no line speaks of. nginx: ngx_http_browser. */
export function isModern(agent: string, browsers: readonly ModernBrowser[]): boolean | undefined {
  for (const { mark, version } of browsers) {
    const found = mark.skip < agent.length ? agent.indexOf(mark.text, mark.skip) : -1;
    const start = found + mark.add;
    if (found !== -1 && start < agent.length) {
      return versionAt(agent, start, version) >= version;
    }
  }
  return undefined;
}
