/** What `browserFlags` tells apart (nginx: headers_in.msie and its neighbours). */
export const BROWSER = { MSIE: 1, MSIE6: 2, OPERA: 4, GECKO: 8, CHROME: 16, SAFARI: 32, KONQUEROR: 64 } as const;

/**
 * The `BROWSER` bits of a User-Agent header, which some work-arounds go by: keepalive_disable, msie_padding, msie_refresh. MSIE6 stands
 * for the versions 4 to 6 without their service pack (nginx: ngx_http_process_user_agent).
 */
export function browserFlags(userAgent: string): number {
  if (userAgent.includes('Opera')) {
    return BROWSER.OPERA;
  }
  const msie = userAgent.indexOf('MSIE ');
  if (msie !== -1 && msie + 7 < userAgent.length) {
    const version = userAgent[msie + 6] === '.' ? userAgent[msie + 5] : '';
    const old = version === '4' || version === '5' || (version === '6' && !userAgent.includes('SV1', msie + 8));
    return old ? BROWSER.MSIE | BROWSER.MSIE6 : BROWSER.MSIE;
  }
  if (userAgent.includes('Gecko/')) {
    return BROWSER.GECKO;
  }
  if (userAgent.includes('Chrome/')) {
    return BROWSER.CHROME;
  }
  if (userAgent.includes('Safari/') && userAgent.includes('Mac OS X')) {
    return BROWSER.SAFARI;
  }
  return userAgent.includes('Konqueror') ? BROWSER.KONQUEROR : 0;
}
