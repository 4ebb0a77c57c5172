import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import type { Test } from 'tap';

const PROGRAM = '/usr/bin/chromium';

/** Why browser tests are skipped; false where there is a browser. */
export const noBrowser: string | false = existsSync(PROGRAM) ? false : `there is no ${PROGRAM} (Debian's package chromium)`;

/** Starts a headless Chromium that asks nobody but the test's servers, with further options. It ends with the test. */
export async function startBrowser(t: Test, options: readonly string[] = []): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      ...(options.includes('--enable-quic') ? [] : ['--disable-quic']),
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...options,
    ],
  });
  t.teardown(() => browser.close());
  return browser;
}
