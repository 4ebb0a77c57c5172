import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import type { Test } from 'tap';

const PROGRAM = '/usr/bin/chromium';

/** Why browser tests are skipped; false where there is a browser. */
export const noBrowser: string | false = existsSync(PROGRAM) ? false : `there is no ${PROGRAM} (Debian's package chromium)`;

/** Starts a headless Chromium that asks nobody but the test's servers. It ends with the test. */
export async function startBrowser(t: Test): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  t.teardown(() => browser.close());
  return browser;
}
