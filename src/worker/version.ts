declare const SLUICE_VERSION: string | undefined;

/** The name in `Server` headers and error pages. */
export const SERVER_NAME = 'sluice';
/** The version of the package, put in by the build. */
export const SERVER_VERSION: string = typeof SLUICE_VERSION === 'string' ? SLUICE_VERSION : '0.0.0';
