import t from 'tap';
import { BROWSER, browserFlags } from '../../../src/worker/http/syntax/browser.js';

const cases: readonly (readonly [string, number])[] = [
  ['', 0],
  ['curl/8.5.0', 0],
  ['Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)', BROWSER.MSIE | BROWSER.MSIE6],
  ['Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)', BROWSER.MSIE],
  ['Mozilla/4.0 (compatible; MSIE 5.5; Windows 98)', BROWSER.MSIE | BROWSER.MSIE6],
  ['Mozilla/4.0 (compatible; MSIE 4.01; Windows 95)', BROWSER.MSIE | BROWSER.MSIE6],
  ['Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.1)', BROWSER.MSIE],
  ['MSIE 6.0', BROWSER.MSIE | BROWSER.MSIE6],
  ['MSIE 6.', 0],
  ['Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1) Opera 8.0', BROWSER.OPERA],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0', BROWSER.GECKO],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36', BROWSER.CHROME],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15', BROWSER.SAFARI],
  ['Mozilla/5.0 (Linux) AppleWebKit/605.1 Version/4.0 Safari/605.1', 0],
  ['Mozilla/5.0 (compatible; Konqueror/4.5; Linux)', BROWSER.KONQUEROR],
];
for (const [userAgent, flags] of cases) {
  t.equal(browserFlags(userAgent), flags, userAgent);
}
