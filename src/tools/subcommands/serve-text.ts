/** Where the configuration listens. */
export interface ServeOptions {
  /** 127.0.0.1 unless given; `0.0.0.0` or `::` for all interfaces. */
  readonly host?: string;
  /** 8080 unless given. */
  readonly port?: number;
  /** Logs requests on standard output. */
  readonly log?: boolean;
  /** The text of a file of media types, `types { ... }`. */
  readonly types: string;
}

/** A folder to be served. */
export interface DirectoryOptions extends ServeOptions {
  /** Full path. */
  readonly directory: string;
  /** Every path that is no file is answered with /index.html, for applications of one page. */
  readonly spa?: boolean;
}

/** An application to be served. */
export interface ProxyOptions extends ServeOptions {
  /** A port of this machine, `host:port`, or a URL with scheme `http` or `https`. */
  readonly target: string;
}

/** An error in the user's request, to print. */
export class ServeError extends Error {
  override readonly name: string = 'ServeError';
}

/** The configuration that serves a folder. */
export function directoryConfiguration(options: DirectoryOptions): string {
  const fallback = options.spa ? 'try_files $uri $uri/ /index.html;' : 'try_files $uri $uri/ =404;';
  return whole(
    options,
    `        root       ${quoted(options.directory)};
        index      index.html;

        location / {
            ${fallback}
${options.spa ? '' : '            # A page with the names of files where there is no index.html.\n            autoindex on;\n'}        }

        # Hides .git, .env and the like, but not /.well-known/, which the issuers of certificates read.
        location ~ /\\.(?!well-known/) {
            return 404;
        }
`,
  );
}

/** The configuration that passes requests on to an application. */
export function proxyConfiguration(options: ProxyOptions): string {
  const { scheme, servers } = backend(options.target);
  const tls = scheme === 'https';
  return whole(
    options,
    `        # The application decides how large uploads may be.
        client_max_body_size 0;

        location / {
            proxy_pass       ${scheme}://application;
            proxy_set_header Host              ${tls ? quoted(hostOf(options.target)) : '$http_host'};
            proxy_set_header X-Forwarded-For   $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Host  $http_host;
            proxy_set_header X-Forwarded-Proto $scheme;
${tls ? `            proxy_ssl_server_name on;\n            proxy_ssl_name        ${quoted(hostOf(options.target))};\n` : ''}
            # WebSocket.
            proxy_set_header Upgrade    $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            proxy_read_timeout 1h;

            # Pass every piece of a response on at once, as server-sent events need it.
            proxy_buffering    off;
        }
`,
    `    upstream application {
${servers.map((server) => `        server ${server};\n`).join('')}    }

    # An empty Connection header is not sent, so that connections to the application are kept.
    map $http_upgrade $connection_upgrade {
        default upgrade;
        ''      '';
    }

`,
  );
}

function whole({ host = '127.0.0.1', port = 8080, log = false, types }: ServeOptions, server: string, http = ''): string {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ServeError(`"${port}" is no port: it is a number from 1 to 65535`);
  }
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `# Made by sluice. Test it with \`sluice -t -c FILE\`, serve it with \`sluice -c FILE\`.

# Use nginx's defaults: sluice speaks HTTP/1.1 to the application, and keeps connections.
nginx_compatibility on;
worker_processes    1;      # auto: one for each core

events {
    worker_connections 1024;
}

http {
    default_type  application/octet-stream;
    sendfile      on;
    server_tokens off;
    ${log ? 'access_log    /dev/stdout;' : 'access_log    off;'}

    gzip          on;
    gzip_vary     on;
    gzip_proxied  any;
    gzip_types    text/plain text/css text/xml text/javascript application/javascript application/json application/manifest+json
                  application/xml application/rss+xml application/atom+xml application/wasm image/svg+xml;

${http}    server {
        listen     ${address}:${port};
${server}    }

${types.trim().replaceAll(/^(?=.)/gm, '    ')}
}
`;
}

/** A word of the configuration. */
function quoted(text: string): string {
  if (text.includes('$')) {
    throw new ServeError(`"${text}" cannot be written in a configuration: \`$\` begins a variable there`);
  }
  return /^[\w./:@%+,=~-]+$/.test(text) ? text : `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}

const hostOf = (target: string): string => target.replace(/^https?:\/\//i, '').replace(/\/$/, '');

function backend(target: string): { readonly scheme: 'http' | 'https'; readonly servers: readonly string[] } {
  if (/^:?\d{1,5}$/.test(target)) {
    const port = target.replace(':', '');
    // Node listens on ::1 alone when it is told localhost. An application that is started anew is asked again at once.
    return { scheme: 'http', servers: [`127.0.0.1:${port} max_fails=0`, `[::1]:${port} max_fails=0 backup`] };
  }
  const found = /^(?:(https?):\/\/)?([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?\/?$/i.exec(target);
  if (found === null) {
    throw new ServeError(`"${target}" is no application: give a port, HOST:PORT or a URL without a path`);
  }
  const [, scheme = 'http', host = '', port = ''] = found;
  const tls = scheme.toLowerCase() === 'https';
  return { scheme: tls ? 'https' : 'http', servers: [`${host}${port || (tls ? ':443' : ':80')}`] };
}
