import { gzipSync } from 'node:zlib';
import type { Files } from '../support/prefix.js';
import { type Case, isFront, isStream, type Part } from './case.js';
import { rareFiles } from './features-files.js';
import { SCRIPT } from './features-js.js';
import { ourFiles } from './features-ours.js';

/** In which of its forms a case is configured: each has listeners of its own, so that one server process has them all. */
export const FORMS = ['plain', 'unbuffered', 'cached'] as const;
export type Form = (typeof FORMS)[number];

/** The number of the port behind something that says whose connection it is, by the PROXY protocol. */
export const PROXIED = 2 * FORMS.length;

/** Numbers of the ports of `stream`: without and with TLS, and behind the PROXY protocol. */
export const STREAM = { plain: PROXIED + 1, tls: PROXIED + 2, proxied: PROXIED + 3 } as const;

/** All numbers of ports. */
export const PORTS: readonly number[] = Array.from({ length: STREAM.proxied + 1 }, (_, i) => i);

/** Where a case's server of `stream` listens: it has no name, and therefore an address of its own. */
export function streamAddress(name: string): string {
  const number = Number(name.slice(1)) + 1;
  return `127.1.${number >> 8}.${number & 255}`;
}

/** The number of a form's port in the configuration: without TLS and, one higher, with it. */
export const portOf = (form: Form, tls: boolean): number => 2 * FORMS.indexOf(form) + (tls ? 1 : 0);

/** The variables of a line of the access log: first those that say which request it is, then those that are compared. */
export const LOG_KEYS = ['realip_remote_port', 'http3', 'server_port', 'proxy_protocol_port', 'pid', 'connection', 'uri'] as const;
export const LOG_VARIABLES = [
  'status',
  'request',
  'request_method',
  'request_uri',
  'document_uri',
  'args',
  'is_args',
  'request_length',
  'request_completion',
  'body_bytes_sent',
  'bytes_sent',
  'connection_requests',
  'pipe',
  'scheme',
  'http2',
  'server_protocol',
  'server_name',
  'host',
  'remote_user',
  'content_length',
  'content_type',
  'realpath_root',
  'request_filename',
  'limit_rate',
  'gzip_ratio',
  'sent_http_content_type',
  'sent_http_content_length',
  'sent_http_transfer_encoding',
  'sent_http_connection',
  'sent_http_location',
  'sent_http_last_modified',
  'sent_http_cache_control',
  'sent_http_link',
  'sent_trailer_x_trailer',
  'upstream_addr',
  'upstream_status',
  'upstream_response_length',
  'upstream_bytes_received',
  'upstream_bytes_sent',
  'upstream_cache_status',
  'upstream_http_content_type',
  'upstream_http_location',
  'upstream_trailer_x_trailer',
  'proxy_host',
  'slice_range',
] as const;

/** The same of a session of `stream`. */
export const SESSION_KEYS = ['realip_remote_port', 'server_addr', 'pid', 'connection'] as const;
export const SESSION_VARIABLES = [
  'protocol',
  'status',
  'bytes_received',
  'bytes_sent',
  'remote_addr',
  'upstream_addr',
  'upstream_bytes_sent',
  'upstream_bytes_received',
  'ssl_preread_protocol',
  'ssl_preread_server_name',
  'ssl_preread_alpn_protocols',
  'proxy_protocol_addr',
] as const;

/** With which a line about a session begins. */
export const SESSION = 'session';

/** A text such as `file.txt` long enough to span several pieces. */
export const files: Files = {
  'html/index.html': '<p>the index</p>\n',
  'html/at/file.txt': 'the text of the file 0123456789\n',
  'html/at/page.html': '<html><!--#echo var="uri" --> text <!--#if expr="$arg_x" -->x<!--#endif --></html>\n',
  'html/at/large.txt': 'a line of the large text\n'.repeat(4000),
  'html/at/empty': '',
  'html/at/file.txt.gz': gzipSync('the text of the packed file 0123456789\n', { level: 1 }),
  'html/ssi.html': `<!--#block name="none" -->nothing<!--#endblock --><!--#set var="x" value="of $arg_x" --><!--#echo var="x" -->
<!--#if expr="$arg_x = /w(?P<rest>.*)/" -->w and <!--#echo var="rest" --><!--#elif expr="$arg_x" -->x<!--#else -->none<!--#endif -->
<!--#include virtual="/included?a=b" wait="yes" --><!--#include virtual="/nothing/there" stub="none" --><!--#include file="at/file.txt" -->
<!--#unknown --><!--#echo var="nothing" default="&" --><!--#echo var="args" encoding="url" --><!--#config timefmt="%Y" errmsg="failed" -->
`,
  'main.js': SCRIPT,
  ...ourFiles,
  ...rareFiles,
  'html/at/folder/index.html': '<p>the folder</p>\n',
  // The password is `secret`.
  users: 'user:{PLAIN}secret\n',
};

const UNBUFFERED = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map((family) => `${family}_buffering off;`).join('\n');
const CACHED = ['proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map(
    (family) =>
      `${family}_cache ${family}; ${family}_cache_key "$request_method $host $uri$is_args$args"; ${family}_cache_valid any 1h; ${family}_cache_convert_head off;`,
  )
  .join('\n')
  .replace(/(fastcgi|uwsgi|scgi)_cache_convert_head off;/g, '');

const MORE: Readonly<Record<Form, string>> = { plain: '', unbuffered: UNBUFFERED, cached: CACHED };

/** The files of all cases' configurations; there are none at first. */
export const CASES = 'cases.conf';
export const STREAMS = 'streams.conf';

/** The block around all cases, which listens for QUIC if `http3` says so. `certificate`, `key`: paths. */
export const frame = (
  main: string,
  certificate: string,
  key: string,
  { http3, scripts }: { readonly http3: boolean; readonly scripts: readonly string[] },
): string => `
${main}
events { worker_connections 4096; }
http {
log_format compare '${[...LOG_KEYS, ...LOG_VARIABLES].map((name) => `$${name}`).join('\t')}';
access_log %%DIR%%/access.log compare;
types { text/html html; text/plain txt; }
default_type application/octet-stream;
server_names_hash_max_size 4096;
variables_hash_max_size 4096;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path %%DIR%%/${name}_temp;`).join('\n')}
${['proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_cache_path %%DIR%%/${name}_cache keys_zone=${name}:10m;`).join('\n')}
limit_req_zone $host zone=few:1m rate=1r/m;
limit_conn_zone $host zone=one:1m;
ssl_certificate ${certificate};
ssl_certificate_key ${key};
ssl_early_data on;
${scripts.map((name) => `js_import ${name} from %%DIR%%/${name}.js;`).join('\n')}
charset_map koi8-r utf-8 { C0 D18E; C1 D0B0; }
charset_map windows-1251 utf-8 { C0 D090; }
charset_map windows-1251 koi8-r { C0 E1; 74 54; }
client_header_timeout 10m;
client_body_timeout 10m;
keepalive_timeout 10m;
lingering_timeout 10m;
lingering_time 10m;
${['proxy', 'fastcgi', 'uwsgi', 'scgi', 'grpc', 'memcached'].map((name) => `${name}_read_timeout 10m; ${name}_connect_timeout 10m;`).join('\n')}
${FORMS.map((form) => `server { listen ${listen(form, false)} default_server; listen ${listen(form, true)} ssl default_server; ${http3 && form === 'plain' ? `listen ${listen(form, true)} quic default_server;` : ''} http2 on; server_name none.test; location = /counters { stub_status; } }`).join('\n')}
server { listen 127.0.0.1:%%PORT_${PROXIED}%% proxy_protocol; server_name none.test; }
${Object.values(STREAM)
  .map((number) => `# %%PORT_${number}%%`)
  .join('\n')}
include %%DIR%%/${CASES}*;
}
stream {
log_format compare '${[SESSION, ...[...SESSION_KEYS, ...SESSION_VARIABLES].map((name) => `$${name}`)].join('\t')}';
access_log %%DIR%%/access.log compare;
map_hash_bucket_size 128;
variables_hash_max_size 4096;
limit_conn_zone $server_addr zone=sessions:1m;
ssl_certificate ${certificate};
ssl_certificate_key ${key};
proxy_connect_timeout 10m;
${scripts.map((name) => `js_import ${name} from %%DIR%%/${name}.js;`).join('\n')}
include %%DIR%%/${STREAMS}*;
}
`;

const listen = (form: Form, tls: boolean): string => `127.0.0.1:%%PORT_${portOf(form, tls)}%%`;

/** A form that is asked for, and whether over TLS, too: each context of TLS takes as long as all else of a server. */
export interface Wanted {
  readonly form: Form;
  readonly tls: boolean;
  readonly http3: boolean;
  /** ... and behind the PROXY protocol. */
  readonly proxied?: boolean;
}

/** What a case puts into `http` and `stream`. */
export interface CaseText {
  readonly http: string;
  readonly stream: string;
}

/** The configuration of a case. `name`: the case's in this batch; `backend`: the port of its backend; `wanted`: what is asked for. */
export function caseConfiguration(one: Case, name: string, backend: number, wanted: readonly Wanted[]): CaseText {
  const { parts } = one;
  const texts = (of: keyof Omit<Part, 'name'>): string =>
    parts
      .map((part) => part[of] ?? '')
      .filter((text) => text !== '')
      .join('\n');
  const front = isFront(one);
  const server = ({ form, tls, http3, proxied }: Wanted): string => `server {
listen ${listen(form, false)};
${tls && !front ? `listen ${listen(form, true)} ssl;` : ''}
${http3 && !front ? `listen ${listen(form, true)} quic;` : ''}
${proxied || front ? `listen 127.0.0.1:%%PORT_${PROXIED}%% proxy_protocol;` : ''}
http2 on;
server_name .%%CASE%%.test;
root %%DIR%%/html;
${MORE[form]}
${texts('server')}
location /at/ {
${texts('location')}
}
}
`;
  const placed = (text: string): string =>
    text
      .replaceAll('%%GROUP%%', '%%CASE%%')
      .replaceAll('%%CASE%%', name)
      .replaceAll('%%BACKEND%%', `127.0.0.1:${backend}`)
      .replaceAll('%%DOOR%%', `127.0.0.1:%%PORT_${PROXIED}%%`)
      .replaceAll('%%HTTP%%', listen('plain', false));
  const group = 'upstream %%CASE%% { server %%BACKEND%% max_fails=0; }';
  const own = wanted.filter(({ form }) => form === 'plain' || !front);
  const http = front || !isStream(one) ? `${group}\n${texts('http')}\n${own.map(server).join('')}` : '';
  if (!isStream(one)) {
    return { http: placed(http), stream: '' };
  }
  const { tls, proxied } = wanted.find(({ form }) => form === 'plain') ?? {};
  const at = (number: number): string => `listen ${streamAddress(name)}:%%PORT_${number}%%`;
  const listening = [
    `${at(STREAM.plain)};`,
    ...(one.client.through === 'udp' ? [`${at(STREAM.plain)} udp; proxy_responses 1;`] : []),
    ...(tls ? [`${at(STREAM.tls)} ssl;`] : []),
    ...(proxied ? [`${at(STREAM.proxied)} proxy_protocol;`] : []),
  ];
  return {
    http: placed(http),
    stream: placed(`${group}\n${texts('stream')}\nserver {\n${listening.join('\n')}\n${texts('session')}\n}\n`),
  };
}
