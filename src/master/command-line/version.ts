import { release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { IS_EXECUTABLE } from '../../shared/system/executable.js';
import { defaultPlaces } from './places.js';

declare const SLUICE_VERSION: string;

/** The server's name and version, as in the Server header. */
export const product = `sluice/${SLUICE_VERSION}`;

/**
 * The modules beyond nginx's usual ones, by the options that build them into nginx, which certbot and others look for; in nginx's
 * order.
 */
const WITH = [
  'ssl',
  'v2',
  'realip',
  'addition',
  'image_filter',
  'geoip',
  'sub',
  'dav',
  'flv',
  'mp4',
  'gunzip',
  'gzip_static',
  'auth_request',
  'random_index',
  'secure_link',
  'slice',
  'stub_status',
] as const;
const WITH_STREAM = ['ssl', 'realip', 'geoip', 'ssl_preread'] as const;

/** The first line of `-v`; tools expect the name of the family before the product. */
export const versionLine = (): string => `nginx version: ${product}\n`;

/** What `-V` adds; `withoutRing`: why there is no io_uring, empty when there is. nginx: ngx_show_version_info. */
export function configureText(withoutRing: string): string {
  const places = defaultPlaces(false);
  const openssl = process.versions.openssl?.replace(/\+.*/, '') ?? 'none';
  const engines = withoutRing === '' ? 'libuv uring' : `libuv (no uring: ${withoutRing})`;
  const packing = IS_EXECUTABLE ? `single executable, its files in ${fileURLToPath(new URL('..', import.meta.url)).slice(0, -1)}\n` : '';
  const options = [
    `--prefix=${places.prefix.slice(0, -1)}`,
    `--conf-path=${places.conf}`,
    ...WITH.map((name) => `--with-http_${name}_module`),
    '--with-stream',
    ...WITH_STREAM.map((name) => `--with-stream_${name}_module`),
  ];
  return (
    `built by Node.js ${process.version} (${process.arch})\n` +
    `built with OpenSSL ${openssl} (Node.js)\nTLS SNI support enabled\nnetwork engines: ${engines}\n${packing}configure arguments: ${options.join(' ')}\n`
  );
}

/** What `-h` adds. */
export function helpText(name: string): string {
  const places = defaultPlaces(false);
  const indent = ' '.repeat(`Usage: ${name} `.length);
  return `Usage: ${name} [-?hvVtTq] [-s signal] [-p prefix]
${indent}[-e filename] [-c filename] [-g directives]

Options:
  -?,-h         : this help
  -v            : show version and exit
  -V            : show version and configure options then exit
  -t            : test configuration and exit
  -T            : test configuration, dump it and exit
  -q            : suppress non-error messages during configuration testing
  -s signal     : send signal to a master process: stop, quit, reopen, reload
  -p prefix     : set prefix path (default: ${places.prefix})
  -e filename   : set error log file (default: ${places.errorLog})
  -c filename   : set configuration file (default: ${places.conf})
  -g directives : set global directives out of configuration file

`;
}

/** What the server says of itself and its system when it starts, for the error log. nginx: ngx_os_status. */
export function startLines(): readonly string[] {
  return [product, `built by Node.js ${process.version}`, `OS: Linux ${release()}`];
}
