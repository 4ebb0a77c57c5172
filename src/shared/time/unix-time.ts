/** The wall clock in whole seconds since 1970. nginx: ngx_time. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
