import { loadNative } from '../../shared/native/native.js';
import { whyNoCompression } from '../../worker/net/openssl/certificate-compression.js';
import { whyNoCommands } from '../../worker/net/openssl/context-commands.js';
import { whyNoQuic } from '../../worker/net/openssl/quic-library.js';

/** How a directive that is accepted, or refused on purpose, differs from nginx's. */
export interface NginxDifference {
  /** Names; one that ends in `*` stands for all that begin so. */
  readonly directives: readonly string[];
  /** What an operator reads: as Markdown it makes the cell of the table in docs/compatibility.md. */
  readonly note: string;
  /** How the cell with the names shows what cannot be said by names alone, such as one parameter; the names unless given. */
  readonly shown?: string;
  /** Which uses are meant, by their arguments; every use unless given. */
  readonly when?: (args: readonly string[], name: string) => boolean;
  /** The difference is about requests: a directive of this name inside `stream` is another. */
  readonly httpOnly?: true;
}

/** A table of differences. The page docs/compatibility.md and `sluice migrate` show the same ones. */
export interface DifferenceTable {
  /** Marks the table's place in the page. */
  readonly id: 'switched' | 'node' | 'tls' | 'no-effect';
  readonly head: readonly [string, string];
  readonly rows: readonly NginxDifference[];
}

const includes =
  (...words: readonly string[]) =>
  (args: readonly string[]): boolean =>
    args.some((arg) => words.includes(arg));

/** Directives with a default that `nginx_compatibility on` turns to nginx's; the page tells them in words of its own. */
export const switched: readonly NginxDifference[] = [
  {
    directives: ['upstream'],
    note: '503 instead of 502 when every backend of the group is unavailable, unless `nginx_compatibility on`',
    httpOnly: true,
  },
  {
    directives: ['proxy_pass'],
    note: 'HTTP/1.0 and a new connection for each request unless `keepalive`, `proxy_http_version 1.1` and an empty `Connection` ask for more, or `nginx_compatibility on`',
    httpOnly: true,
  },
  {
    directives: ['log_format', 'add_header', 'proxy_set_header', 'fastcgi_param', 'return', 'set', 'map'],
    note: '`$request_id` has 16 characters instead of 32 unless `nginx_compatibility on`',
    when: (args) => args.some((arg) => /\$(\{request_id\}|request_id\b)/.test(arg)),
    httpOnly: true,
  },
  {
    directives: ['otel_trace'],
    note: 'attempts at backends get spans of their own, unless `otel_upstream_spans off` or `nginx_compatibility on`',
    when: (args) => args[0] !== 'off',
  },
];

/** The tables, in the order of the page. */
export const differenceTables: readonly DifferenceTable[] = [
  {
    id: 'node',
    head: ['Directive', 'What happens'],
    rows: [
      {
        directives: ['worker_cpu_affinity', 'worker_rlimit_nofile', 'worker_rlimit_core'],
        note: "without the optional package koffi, sluice calls the system's `taskset` and `prlimit` if they are installed; otherwise it warns",
        when: () => typeof loadNative() === 'string',
      },
      {
        directives: ['use'],
        note: 'Node chooses the method; `epoll`, `poll` and `select` are accepted, other names refused',
        when: (args) => !['epoll', 'poll', 'select'].includes(args[0] ?? ''),
      },
      {
        directives: ['load_module'],
        note: 'nothing is loaded: a module that is built in, or that the configuration does not use, is accepted with a warning; others are refused',
      },
      {
        directives: ['image_filter'],
        shown: '`image_filter resize`, `crop`, `rotate`',
        note: 'images are made with libvips, by the optional package sharp, in place of libgd: sizes, formats and headers are the same, pixels and lengths are not; 415 for more than 67,108,864 (2^26) pixels and for images that break off. Refused where sharp cannot be loaded',
        when: includes('resize', 'crop', 'rotate'),
      },
      {
        directives: ['ssl_engine'],
        note: 'refused: sluice loads no engines',
      },
      {
        directives: ['proxy_bind'],
        shown: '`proxy_bind ... transparent`',
        note: "in force if the optional package koffi is installed; otherwise refused, with nginx's message for systems without it",
        when: (args) => includes('transparent')(args) && typeof loadNative() === 'string',
      },
      {
        directives: ['proxy', 'fastcgi', 'uwsgi', 'scgi', 'grpc', 'tunnel'].flatMap((family) => [
          `${family}_socket_rcvbuf`,
          `${family}_socket_sndbuf`,
        ]),
        note: 'in force if the optional package koffi is installed; otherwise checked, without effect, with a warning',
        when: () => typeof loadNative() === 'string',
      },
      {
        directives: ['quic_*', 'listen'],
        shown: '`quic_*`, `listen ... quic`',
        note: 'in force with OpenSSL 3.5 in Node (22.20 and later) and the optional package koffi; otherwise checked, without effect, with a warning',
        when: (args, name) => whyNoQuic() !== '' && (name === 'listen' ? includes('quic')(args) : args[0]?.toLowerCase() !== 'off'),
      },
      {
        directives: ['listen'],
        shown: '`listen ... multipath`',
        note: 'checked, without effect, with a warning: connections use one path, as TCP does',
        when: includes('multipath'),
      },
      {
        directives: ['listen'],
        shown: '`listen ... reuseport`, `deferred`, `rcvbuf`, `sndbuf`, `fastopen`, `so_keepalive` with times',
        note: 'in force if the optional package koffi is installed; otherwise checked, without effect, with a warning',
        when: (args) =>
          args.some((arg) => /^(?:deferred|reuseport)$|^(?:rcvbuf|sndbuf|fastopen)=|^so_keepalive=(?!on$|off$)/.test(arg)) &&
          typeof loadNative() === 'string',
      },
    ],
  },
  {
    id: 'tls',
    head: ['Directive', 'What happens'],
    rows: [
      {
        directives: ['ssl_ech_file'],
        note: "ignored with nginx's warning for platforms without it",
      },
      {
        directives: ['ssl_early_data'],
        note: 'in force for connections on io_uring, session tickets, and servers that ask for no certificates of clients and name their own without variables; otherwise the handshake refuses early data, and clients send it again. Without the optional package koffi there is a warning. `$ssl_early_data` is empty once the handshake is over; nginx does not read from a client while a backend is awaited, and has `1` then, in its logs, too',
        when: (args) => args[0]?.toLowerCase() !== 'off',
      },
      {
        directives: ['ssl_certificate_compression'],
        note: "in force on Node 24 and 26 if the optional package koffi is installed; otherwise ignored with nginx's warning for platforms without it",
        when: (args) => args[0]?.toLowerCase() !== 'off' && whyNoCompression() !== '',
      },
      {
        directives: ['ssl_certificate_key'],
        shown: '`ssl_certificate_key` with `engine:` or `store:`',
        note: 'keys of `store:` are read from files alone (`store:file:`); other stores, and engines, are refused',
        when: (args) => /^(?:engine|store:(?!file:)[a-z0-9+]+):/i.test(args[0] ?? ''),
      },
      {
        directives: ['ssl_protocols'],
        shown: '`ssl_protocols SSLv2`, `SSLv3`',
        note: 'accepted, but OpenSSL no longer supports them',
        when: includes('SSLv2', 'SSLv3'),
      },
      {
        directives: ['ssl_conf_command'],
        note: 'in force if the optional package koffi is installed; otherwise `MinProtocol`, `MaxProtocol`, `CipherString`, `Ciphersuites`, `Curves`, `Groups`, `SignatureAlgorithms`, `Certificate`, `PrivateKey` and the common names of `Options` are accepted, and others refused',
        when: () => whyNoCommands() !== '',
      },
      {
        directives: ['ssl_session_cache'],
        shown: '`ssl_session_cache off`',
        note: 'as `none`, unless the optional package koffi is installed: clients of TLS 1.2 get the number of a session, which nobody knows later',
        when: (args) => args.includes('off') && whyNoCommands() !== '',
      },
      {
        directives: ['ssl_trusted_certificate'],
        note: 'when sluice asks clients for certificates, it also sends the names of these certificates: Node sends every name that it checks against',
      },
      {
        directives: ['ssl_session_ticket_key'],
        shown: '`ssl_session_ticket_key` with 80 bytes',
        note: 'tickets are encrypted with AES-128, so they can be shared among sluice servers, but not with nginx; files of 48 bytes can be shared with nginx',
      },
      {
        directives: [],
        shown: '`$ssl_sigalg`, `$ssl_client_sigalg`',
        note: 'known for connections on io_uring, with OpenSSL 3.5 and the optional package koffi; otherwise, and over QUIC, empty',
      },
      {
        directives: [],
        shown: '`$ssl_curve`',
        note: 'for connections on `net_engine libuv`, worked out from what client and `ssl_ecdh_curve` offer; groups of `ssl_conf_command` are not considered',
      },
      {
        directives: [],
        shown: '`$ssl_ech_*`',
        note: 'always empty',
      },
    ],
  },
  {
    id: 'no-effect',
    head: ['Directive', 'Why'],
    rows: [
      {
        directives: [
          'zone_sync',
          'zone_sync_server',
          'zone_sync_buffers',
          'zone_sync_connect_retry_interval',
          'zone_sync_connect_timeout',
          'zone_sync_interval',
          'zone_sync_recv_buffer_size',
          'zone_sync_timeout',
          'zone_sync_ssl',
          'zone_sync_ssl_certificate',
          'zone_sync_ssl_certificate_key',
          'zone_sync_ssl_ciphers',
          'zone_sync_ssl_conf_command',
          'zone_sync_ssl_crl',
          'zone_sync_ssl_name',
          'zone_sync_ssl_password_file',
          'zone_sync_ssl_protocols',
          'zone_sync_ssl_server_name',
          'zone_sync_ssl_trusted_certificate',
          'zone_sync_ssl_verify',
          'zone_sync_ssl_verify_depth',
        ],
        note: 'machines share zones with `sync` by the store of `shared_store`',
      },
      {
        directives: ['multi_accept', 'accept_mutex', 'accept_mutex_delay', 'worker_aio_requests', 'timer_resolution', 'debug_points'],
        note: "they tune nginx's event loop; sluice uses Node's",
      },
      {
        directives: ['thread_pool', 'aio_write', 'read_ahead', 'directio_alignment', 'tcp_nopush'],
        note: 'they tune how nginx reads files and writes to sockets; `sendfile`, `directio` and `output_buffers` only set the size of the pieces in which sluice reads a file',
      },
      {
        directives: ['js_engine', 'js_context_reuse', 'js_context_reuse_max_size'],
        note: 'they choose and tune the engines of njs; scripts run on V8, and modules live as long as the worker, but with `js_context_reuse off` as long as the request',
      },
      {
        directives: ['open_file_cache_events'],
        note: 'the kernel events for open files (kqueue) are not available in Node',
      },
      {
        directives: ['tcp_nodelay', 'postpone_output', 'send_lowat', 'proxy_send_lowat', 'fastcgi_send_lowat', 'tunnel_send_lowat'],
        note: 'sluice joins small pieces before it writes them, and TCP_NODELAY is always on',
      },
      {
        directives: ['proxy', 'fastcgi', 'uwsgi', 'scgi'].flatMap((family) => [
          `${family}_busy_buffers_size`,
          `${family}_temp_file_write_size`,
        ]),
        note: 'checked only: of a buffered response one piece is on its way to the client at a time, and what does not fit into `*_buffers` is written to the temporary file as it comes',
      },
      {
        directives: ['tunnel_buffer_size'],
        note: 'all tunnels of a worker read into one buffer, and a tunnel stops reading while the other side does not take what it read',
      },
      {
        directives: ['client_body_in_single_buffer'],
        note: 'a body in memory is always one buffer',
      },
      {
        directives: [
          'gzip_buffers',
          'gunzip_buffers',
          'brotli_buffers',
          'zstd_buffers',
          'postpone_gzipping',
          'gzip_no_buffer',
          'ssi_ignore_recycled_buffers',
          'ssi_min_file_chunk',
        ],
        note: "they tune the buffers of nginx's filters",
      },
      {
        directives: ['pcre_jit'],
        note: 'sluice does not use the PCRE2 library',
      },
      {
        directives: ['connection_pool_size', 'request_pool_size', 'http2_pool_size', 'http2_recv_buffer_size', 'http2_streams_index_size'],
        note: 'sluice has no such pools and tables',
      },
      {
        directives: ['quic_bpf'],
        note: 'the kernel always finds the worker of a connection, by a program that needs no privileges',
      },
      {
        directives: [
          'server_names_hash_max_size',
          'server_names_hash_bucket_size',
          'variables_hash_max_size',
          'variables_hash_bucket_size',
          'types_hash_max_size',
          'types_hash_bucket_size',
          'map_hash_max_size',
          'map_hash_bucket_size',
          'referer_hash_max_size',
          'referer_hash_bucket_size',
          'proxy_headers_hash_max_size',
          'proxy_headers_hash_bucket_size',
        ],
        note: 'the hash tables of sluice size themselves',
      },
    ],
  },
];

/**
 * What is known of one use of a directive, with the table it stands in; undefined when it is the same as in nginx. `inStream`: it stands
 * inside `stream`; `compatible`: `nginx_compatibility on` stands above.
 */
export function differenceOf(
  name: string,
  args: readonly string[],
  inStream: boolean,
  compatible = false,
): { readonly table: DifferenceTable['id']; readonly difference: NginxDifference } | undefined {
  for (const { id, rows } of [...differenceTables, { id: 'switched' as const, rows: compatible ? [] : switched }]) {
    const difference = rows.find(
      ({ directives, when, httpOnly }) =>
        directives.some((known) => matches(known, name)) && !(httpOnly && inStream) && when?.(args, name) !== false,
    );
    if (difference !== undefined) {
      return { table: id, difference };
    }
  }
  return undefined;
}

const matches = (known: string, name: string): boolean => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : known === name);

/** A table as it stands in the page. */
export function markdownTable({ head, rows }: DifferenceTable): string {
  const line = ({ directives, shown, note }: NginxDifference): string =>
    `| ${shown ?? directives.map((name) => `\`${name}\``).join(', ')} | ${note} |\n`;
  return `| ${head[0]} | ${head[1]} |\n|---|---|\n${rows.map(line).join('')}`;
}
