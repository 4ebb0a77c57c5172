declare const SLUICE_VERSION: string | undefined;

/** The name in `Server` headers and error pages. */
export const SERVER_NAME = 'sluice';
/** The version of nginx whose behaviour this is; applications and scripts read it from `$nginx_version`. */
export const NGINX_VERSION = '1.31.5';
/** The version of the package, put in by the build. */
export const SERVER_VERSION: string = typeof SLUICE_VERSION === 'string' ? SLUICE_VERSION : '0.0.0';
