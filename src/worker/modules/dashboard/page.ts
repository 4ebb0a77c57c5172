import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** The page as it is sent: all of it is one text. */
export interface DashboardPage {
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  /** What the page may do: run and show what is in it, and ask this server. */
  readonly policy: string;
  readonly tag: string;
}

let page: DashboardPage | undefined;

/** Reads the page, which the build has made. */
export function dashboardPage(): DashboardPage {
  page ??= readPage(fileURLToPath(new URL('./dashboard.html', import.meta.url)));
  return page;
}

function readPage(file: string): DashboardPage {
  const bytes = readFileSync(file);
  const text = bytes.toString();
  const hashes = (tag: 'script' | 'style'): string =>
    [...text.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
      .map(([, inner]) => `'sha256-${hash('sha256', inner!, 'base64')}'`)
      .join(' ');
  return {
    bytes,
    zipped: gzipSync(bytes, { level: 9 }),
    policy:
      `default-src 'none'; script-src ${hashes('script')}; style-src ${hashes('style')}; connect-src 'self'; img-src data:; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    tag: `"${hash('sha256', bytes, 'hex').slice(0, 16)}"`,
  };
}
