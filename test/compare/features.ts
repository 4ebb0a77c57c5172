import type { Part } from './case.js';
import { type Feature, feature } from './feature.js';

const CGI_PARAMS = `PARAM REQUEST_METHOD $request_method; PARAM REQUEST_URI $request_uri; PARAM QUERY_STRING $query_string;
PARAM CONTENT_LENGTH $content_length; PARAM CONTENT_TYPE $content_type; PARAM SCRIPT_NAME $uri;`;

/** A location that passes requests to the backend by a protocol of CGI's kind. */
export const cgi = (family: string): string => `${family}_pass %%BACKEND%%;\n${CGI_PARAMS.replaceAll('PARAM', `${family}_param`)}`;

const HTTP2_GROUP = 'upstream http2_%%CASE%% { server %%BACKEND%% max_fails=0; }';

/** Where the content of the location comes from: each case has one. */
export const handlers: readonly Feature[] = [
  feature('static', (r) => ({
    location: r.oneOf(['', 'alias %%DIR%%/html/at/;', 'index page.html;', 'autoindex on;', 'sendfile on; output_buffers 1 512;']),
  })),
  feature('try_files', (r) => ({
    location: r.oneOf([
      'try_files $uri $uri/ /page;',
      'try_files $uri =404;',
      'try_files $uri @named;',
      'try_files /at/missing$uri /at/file.txt =403;',
      'try_files $uri.html $uri/index.html @backend;',
    ]),
    server: `location = /page { return 200 "page $uri $args\\n"; }
location @named { return 200 "named $uri\\n"; }
location @backend { proxy_pass http://%%GROUP%%; }`,
  })),
  feature('return', (r) => ({
    location: `return ${r.oneOf(['200 "text $uri $args"', '204', '200', '301 /there', '302 http://$host/x', '404', '418 tea', '500', '503 "busy"', '444', '307 $uri?a=b', '413', '400', '401', '405', '416', '429 slow'])};`,
  })),
  feature('proxy', (r) => ({
    location: `proxy_pass http://%%GROUP%%${r.oneOf(['', '', '', '/', '/prefix/', '/x?y=1'])};`,
  })),
  feature('proxy-variable', (r) => ({ location: `proxy_pass http://%%GROUP%%${r.oneOf(['$request_uri', '$uri', '/v$is_args$args'])};` })),
  feature('proxy-two', () => ({
    http: `upstream two_%%CASE%% { server 127.0.0.1:1 max_fails=0; server %%BACKEND%% backup max_fails=0; }`,
    location: 'proxy_pass http://two_%%CASE%%;',
  })),
  feature('fastcgi', () => ({ location: cgi('fastcgi') })),
  feature('scgi', () => ({ location: cgi('scgi') })),
  feature('uwsgi', () => ({ location: cgi('uwsgi') })),
  feature('grpc', (r) => ({
    http: HTTP2_GROUP,
    location: `grpc_pass grpc://http2_%%CASE%%; ${r.oneOf(['', '', 'grpc_intercept_errors on;', 'grpc_set_header TE $http_te;', 'grpc_hide_header X-Own;', 'grpc_buffer_size 256;', 'grpc_next_upstream http_500 http_404 non_idempotent;'])}`,
  })),
  feature('proxy_http', (r) => ({
    http: HTTP2_GROUP,
    location: `proxy_http_version 2; proxy_pass http://http2_%%CASE%%${r.oneOf(['', '', '/prefix/', '$request_uri'])}; ${r.oneOf(['', '', 'proxy_pass_trailers on;', 'proxy_set_body own;', 'proxy_method POST;', 'proxy_pass_request_headers off;'])}`,
  })),
  feature('memcached', (r) => ({
    location: `set $memcached_key "$uri?$args"; memcached_pass %%BACKEND%%; ${r.oneOf(['', 'memcached_gzip_flag 2;', 'memcached_next_upstream not_found;', 'memcached_buffer_size 256;'])}`,
  })),
  feature('empty_gif', () => ({ location: 'empty_gif;' })),
  feature('dav', () => ({ location: 'dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; alias %%DIR%%/dav/$host/;' })),
  feature('slice', (r) => ({
    location: `slice ${r.oneOf([7, 64, 1000])}; proxy_set_header Range $slice_range; proxy_pass http://%%GROUP%%;`,
  })),
];

/** What can come on top, in the case's location or its server. */
export const modifiers: readonly Feature[] = [
  feature('error_page', (r) => ({
    [r.oneOf([
      'location',
      'location',
      'server',
    ])]: `error_page ${r.oneOf(['404', '403 404 500 502 503 504', '400 413', '413', '401 403', '405 416', '301 302', '418', '502', '404 412 500', '301 304'].map(String))} ${r.oneOf(['', '', '=', '=200', '=418', '=302'])} ${r.oneOf(['/error', '/error', '/error?x=$status', '@failed', '@failed-backend', 'http://other.test/x', '/at/file.txt', '/error-backend', '/missing-too'])};`,
  })),
  feature('intercept', () => ({
    location: 'proxy_intercept_errors on; fastcgi_intercept_errors on; uwsgi_intercept_errors on; scgi_intercept_errors on;',
  })),
  feature('rewrite', (r) => ({
    [r.oneOf([
      'location',
      'server',
    ])]: `rewrite ${r.oneOf(['^/at/x(.*)$ /at/y$1 break', '^/at/(.*)\\.txt$ /at/$1.html last', '^(.*)/old$ $1/new redirect', '/folder /at/file.txt?a=b break', '^/at/(f.*)$ /at/$1? break', 'missing$ /at/file.txt permanent', '^/at/e(.*)$ http://other.test/$1'])};`,
  })),
  feature('if', (r) => ({
    location: `if (${r.oneOf(['$request_method = POST', '$arg_x', '$http_range', '-f $request_filename', '!-e $request_filename', '$uri ~ "\\.(txt|html)$"'])}) { ${r.oneOf(['return 405;', 'return 200 "if $1";', 'add_header X-If $uri;', 'set $seen yes;', 'rewrite ^ /at/file.txt break;', 'return 302 /if;'])} }`,
  })),
  feature('set', () => ({ location: 'set $seen "$arg_x-$request_method"; add_header X-Seen $seen always;' })),
  feature('map', () => ({
    http: 'map $arg_x $map_%%CASE%% { default none; 1 one; ~^(?<m_%%CASE%%>[a-z]+) "word $m_%%CASE%%"; }',
    location: 'add_header X-Map $map_%%CASE%%;',
  })),
  feature('limit_except', (r) => ({ location: `limit_except ${r.oneOf(['GET', 'GET POST'])} { deny all; }` })),
  feature('body_size', (r) => ({ location: `client_max_body_size ${r.oneOf([1, 10, 1000, 0])};` })),
  feature('body_buffer', (r) => ({
    location: r.oneOf([
      'client_body_buffer_size 8;',
      'client_body_in_file_only clean;',
      'client_body_in_file_only on;',
      'client_body_in_single_buffer on; client_body_buffer_size 100;',
    ]),
  })),
  feature('request_buffering', () => ({
    location: 'proxy_request_buffering off; fastcgi_request_buffering off; scgi_request_buffering off; uwsgi_request_buffering off;',
  })),
  feature('access', (r) => ({
    [r.oneOf(['location', 'server'])]: r.oneOf([
      'deny all;',
      'allow 127.0.0.1; deny all;',
      'satisfy any; deny all;',
      'allow 10.0.0.0/8; deny all;',
    ]),
  })),
  feature('auth_basic', (r) => ({
    location: `auth_basic ${r.oneOf(['closed', '"the realm"', 'off'])}; auth_basic_user_file %%DIR%%/users;`,
  })),
  feature('auth_request', (r) => ({
    location: 'auth_request /auth; auth_request_set $who $upstream_http_x_who; add_header X-Who $who always;',
    server: `location = /auth { internal; proxy_pass http://%%GROUP%%/auth-${r.oneOf([200, 204, 401, 403, 500, 302])};
proxy_pass_request_body off; proxy_set_header Content-Length ""; }`,
  })),
  feature('mirror', (r) => {
    const body = r.oneOf(['on', 'off']);
    const none = body === 'on' ? '' : ' proxy_pass_request_body off; proxy_set_header Content-Length "";';
    return {
      location: `mirror /mirror; mirror_request_body ${body};`,
      server: `location = /mirror { internal; proxy_pass http://%%GROUP%%/mirror;${none} }`,
    };
  }),
  feature('ssi', (r) => ({
    location: `ssi on; ${r.oneOf(['', 'ssi_types *;', 'ssi_last_modified on;', 'ssi_silent_errors on;', 'ssi_value_length 4;', 'ssi_ignore_recycled_buffers on;'])}`,
  })),
  feature('sub_filter', (r) => ({
    location: `sub_filter ${r.oneOf(["text 'TEXT'", "a 'AA$uri'", "'<' '&lt;'", "0123 ''"])}; sub_filter_once ${r.oneOf(['on', 'off'])}; sub_filter_types *; ${r.oneOf(['', 'sub_filter_last_modified on;'])}`,
  })),
  feature('gzip', (r) => ({
    location: `gzip on; gzip_types *; gzip_min_length ${r.oneOf([0, 20, 500])}; ${r.oneOf(['', 'gzip_proxied any;', 'gzip_vary on;', 'gzip_http_version 1.0;'])}`,
  })),
  feature('gunzip', () => ({ location: 'gunzip on;' })),
  feature('addition', (r) => ({
    location: `${r.oneOf(['add_before_body /before; add_after_body /after;', 'add_after_body /after;', 'add_before_body /after;'])} addition_types *;`,
    server: 'location = /before { return 200 "before\\n"; }\nlocation = /after { proxy_pass http://%%GROUP%%/after; }',
  })),
  feature('add_header', (r) => ({
    location: r.oneOf([
      'add_header X-Added "$uri $status" always;',
      'add_header Cache-Control private;',
      'add_header Last-Modified "Thu, 01 Jan 1970 00:00:10 GMT";',
      'add_trailer X-Trailer $body_bytes_sent always;',
      'add_header ETag \'"mine"\'; add_header Vary X;',
      'expires 1d;',
      'expires epoch;',
      'expires modified 1h;',
    ]),
  })),
  feature('charset', (r) => ({ location: `charset ${r.oneOf(['utf-8', 'koi8-r'])}; charset_types *;` })),
  feature('early_hints', () => ({ location: 'early_hints 1;' })),
  feature('post_action', () => ({
    location: 'post_action /post-action;',
    server: 'location = /post-action { internal; proxy_pass http://%%GROUP%%/post-action; }',
  })),
  feature('response', (r) => ({
    location: r.oneOf([
      'chunked_transfer_encoding off;',
      'etag off;',
      'if_modified_since before;',
      'if_modified_since off;',
      'max_ranges 0;',
      'max_ranges 1;',
      'keepalive_timeout 0;',
      'keepalive_requests 1;',
      'keepalive_disable none;',
      'lingering_close always;',
      'lingering_close off;',
      'absolute_redirect off;',
      'port_in_redirect off;',
      'server_name_in_redirect on;',
      'msie_padding off; reset_timedout_connection on;',
      'default_type text/html;',
      'internal;',
      'types { } default_type text/x-own;',
    ]),
  })),
  feature('proxy_http', (r) => ({
    location: r.oneOf([
      'proxy_http_version 1.0;',
      'proxy_http_version 1.1; proxy_set_header Connection "";',
      'proxy_method PUT;',
      'proxy_method GET;',
      'proxy_pass_request_body off; proxy_set_header Content-Length "";',
      'proxy_pass_request_headers off;',
      'proxy_set_body "own $request_method";',
      'proxy_set_header Host $http_host; proxy_set_header X-Real $remote_addr; proxy_set_header X-Uri $uri;',
      'proxy_set_header Transfer-Encoding $http_transfer_encoding;',
      'proxy_set_header Accept-Encoding "";',
    ]),
  })),
  feature('proxy_response', (r) => ({
    location: r.oneOf([
      'proxy_hide_header X-Own; proxy_pass_header Server;',
      'proxy_pass_header Date; proxy_pass_header X-Accel-Redirect;',
      'proxy_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate;',
      'proxy_redirect http://backend.test/ /from-backend/;',
      'proxy_redirect off;',
      'proxy_cookie_path / /cookie/; proxy_cookie_domain backend.test $host; proxy_cookie_flags ~ secure;',
      'proxy_force_ranges on;',
      'proxy_limit_rate 0; proxy_max_temp_file_size 0;',
      'proxy_buffer_size 256; proxy_buffers 4 256; proxy_busy_buffers_size 256;',
      'proxy_buffering off;',
      'proxy_store %%DIR%%/store/%%CASE%%-$host-$request_method; proxy_temp_path %%DIR%%/store-temp;',
    ]),
  })),
  feature('next_upstream', (r) => ({
    location: r.oneOf([
      'proxy_next_upstream off;',
      'proxy_next_upstream error timeout http_500 http_404 non_idempotent;',
      'proxy_next_upstream_tries 1;',
      'fastcgi_next_upstream error http_500;',
    ]),
  })),
  feature('bind', (r) => ({
    location: ['proxy', 'fastcgi', 'uwsgi', 'scgi', 'grpc', 'memcached']
      .map((family) => `${family}_bind ${r.oneOf(['127.0.0.3', '$arg_x', '$server_addr', '192.0.2.1', 'off'])};`)
      .join(' '),
  })),
  feature('ignore_abort', () => ({ location: 'proxy_ignore_client_abort on;' })),
  feature('server', (r) => ({
    server: r.oneOf([
      'merge_slashes off;',
      'underscores_in_headers on;',
      'ignore_invalid_headers off;',
      'recursive_error_pages on;',
      'log_subrequest on;',
      'max_headers 3;',
      'large_client_header_buffers 2 1k;',
      'port_in_redirect off;',
      'server_name_in_redirect on;',
      'server_tokens build;',
      'rewrite_log on;',
      'client_body_early_read 1;',
      'uninitialized_variable_warn off;',
      'ssl_reject_handshake on;',
    ]),
  })),
  feature('limits', (r) => ({
    location: r.oneOf([
      'limit_req zone=few;',
      'limit_conn one 1; limit_conn_status 429;',
      'limit_rate 100k; limit_rate_after 1k;',
      'limit_req zone=few nodelay burst=1; limit_req_status 444;',
    ]),
  })),
];

/** Locations that error pages and redirects lead to. */
export const targets: readonly Part[] = [
  { name: 'error', server: 'location = /error { return 200 "error $status $uri $request_method $args\\n"; }' },
  { name: 'failed', server: 'location @failed { add_header X-Failed $uri always; return 404 "failed\\n"; }' },
  { name: 'failed-backend', server: 'location @failed-backend { proxy_pass http://%%GROUP%%; }' },
  { name: 'error-backend', server: 'location = /error-backend { proxy_pass http://%%GROUP%%/for-error; }' },
  { name: 'accel', server: 'location /accel/ { internal; alias %%DIR%%/html/at/; }' },
];
