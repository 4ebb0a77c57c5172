import { gzipSync } from 'node:zlib';
import type { Files } from '../support/prefix.js';
import type { Case, Part } from './case.js';
import { SCRIPT } from './features-js.js';
import { ourFiles } from './features-ours.js';

/** In which of its forms a case is configured: each has listeners of its own, so that one server process has them all. */
export const FORMS = ['plain', 'unbuffered', 'cached'] as const;
export type Form = (typeof FORMS)[number];

/** The number of the port behind something that says whose connection it is, by the PROXY protocol. */
export const PROXIED = 2 * FORMS.length;

/** The number of a form's port in the configuration: without TLS and, one higher, with it. */
export const portOf = (form: Form, tls: boolean): number => 2 * FORMS.indexOf(form) + (tls ? 1 : 0);

/** The variables of a line of the access log: first those that say which request it is, then those that are compared. */
export const LOG_KEYS = ['realip_remote_port', 'http3', 'pid', 'connection', 'uri'] as const;
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

/** The file of all cases' configurations; there is none at first. */
export const CASES = 'cases.conf';

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
include %%DIR%%/${CASES}*;
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

const ALL: readonly Wanted[] = FORMS.map((form) => ({ form, tls: false, http3: false }));

/** What a case puts into `http`. `name`: the case's in this batch; `backend`: the port of its backend; `wanted`: what is asked for. */
export function caseConfiguration({ parts }: Case, name: string, backend: number, wanted: readonly Wanted[] = ALL): string {
  const texts = (of: keyof Omit<Part, 'name'>): string =>
    parts
      .map((part) => part[of] ?? '')
      .filter((text) => text !== '')
      .join('\n');
  const server = ({ form, tls, http3, proxied }: Wanted): string => `server {
listen ${listen(form, false)};
${tls ? `listen ${listen(form, true)} ssl;` : ''}
${http3 ? `listen ${listen(form, true)} quic;` : ''}
${proxied ? `listen 127.0.0.1:%%PORT_${PROXIED}%% proxy_protocol;` : ''}
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
  const whole = `upstream %%CASE%% { server %%BACKEND%% max_fails=0; }
${texts('http')}
${wanted.map(server).join('')}`;
  return whole.replaceAll('%%GROUP%%', '%%CASE%%').replaceAll('%%CASE%%', name).replaceAll('%%BACKEND%%', `127.0.0.1:${backend}`);
}
