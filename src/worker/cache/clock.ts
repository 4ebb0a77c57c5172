/** Wall clock in whole seconds, the unit of all times in cache files. nginx: ngx_time. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
