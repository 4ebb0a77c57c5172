import { type Feature, feature } from './feature.js';

const CACHE = 'proxy_cache proxy; proxy_cache_valid any 1h; proxy_cache_key "$host$request_method$uri$is_args$args";';

/** Other places where the content comes from. */
export const moreHandlers: readonly Feature[] = [
  feature('slice-cache', (r) => ({
    location: `slice ${r.oneOf([7, 64, 1000])}; proxy_set_header Range $slice_range; proxy_pass http://%%GROUP%%;
proxy_cache proxy; proxy_cache_valid 200 206 1h; proxy_cache_key "$host$uri$is_args$args$slice_range"; ${r.oneOf(['', 'proxy_cache_min_uses 2;', 'proxy_cache_lock on;', 'proxy_force_ranges on;'])}`,
  })),
  feature('proxy-cache', (r) => ({
    location: `proxy_pass http://%%GROUP%%; ${CACHE} ${r.oneOf([
      '',
      'proxy_cache_lock on;',
      'proxy_cache_min_uses 2;',
      'proxy_cache_bypass $arg_x;',
      'proxy_no_cache $arg_x;',
      'proxy_cache_methods POST;',
      'proxy_cache_revalidate on; proxy_cache_valid any 1s;',
      'proxy_cache_use_stale error http_500 http_404;',
      'proxy_cache_convert_head off;',
      'proxy_ignore_headers Cache-Control Expires Set-Cookie Vary X-Accel-Expires;',
      'proxy_cache_max_range_offset 4; proxy_force_ranges on;',
    ])} add_header X-Cache $upstream_cache_status always;`,
  })),
  feature('proxy-keepalive', (r) => ({
    http: `upstream kept_%%CASE%% { server %%BACKEND%% max_fails=0; keepalive ${r.oneOf([1, 4])}; ${r.oneOf(['', 'keepalive_requests 1;', 'ip_hash;', 'least_conn;', 'hash $uri consistent;', 'random;'])} }`,
    location: `proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://kept_%%CASE%%; ${r.oneOf(['', 'proxy_next_upstream error timeout invalid_header http_502 non_idempotent;', 'proxy_request_buffering off;'])}`,
  })),
  feature('proxy-servers', (r) => ({
    http: `upstream many_%%CASE%% { ${r.oneOf(['', 'least_conn;', 'ip_hash;', 'hash $host;'])} server %%BACKEND%% max_fails=0; server %%BACKEND%% weight=2 max_fails=0; }`,
    location: `proxy_pass http://many_%%CASE%%; proxy_next_upstream ${r.oneOf(['error', 'error timeout http_500 http_502 http_404', 'invalid_header http_403 non_idempotent', 'off'])}; ${r.oneOf(['', 'proxy_next_upstream_tries 2;'])}`,
  })),
  feature('proxy-sticky', (r) => ({
    http: `upstream sticky_%%CASE%% { ${r.oneOf(['', 'least_conn;'])} server %%BACKEND%% max_fails=0 route=1; server 127.0.0.1:1 max_fails=0 route=a ${r.oneOf(['down', 'backup'])}; ${r.oneOf(
      [
        'sticky cookie a;',
        'sticky cookie srv path=/ httponly secure samesite=lax domain=.test;',
        'sticky cookie srv path=/$host domain=$arg_x samesite=$arg_x;',
        'sticky route $cookie_a $arg_x;',
        'sticky learn create=$upstream_cookie_a lookup=$cookie_a zone=learned_%%CASE%%:64k;',
        'sticky learn create=$upstream_http_x_own lookup=$arg_x lookup=$http_x_own zone=learned_%%CASE%%:64k header;',
      ],
    )} }`,
    location: `proxy_pass http://sticky_%%CASE%%; ${r.oneOf(['', 'proxy_next_upstream off;', 'proxy_next_upstream error http_500 http_404 non_idempotent;', `${CACHE} add_header X-Cache $upstream_cache_status;`])}`,
  })),
  feature('nested', (r) => ({
    location: `proxy_pass http://%%GROUP%%;
location /at/folder { ${r.oneOf(['return 200 "folder $uri\\n";', 'alias %%DIR%%/html/at/;', 'autoindex on; autoindex_format json;'])} }
location ~ ^/at/(?<name_%%CASE%%>[a-z]+)\\.(txt|html)$ { ${r.oneOf(['alias %%DIR%%/html/at/$name_%%CASE%%.$2;', 'proxy_pass http://%%GROUP%%;', 'return 200 "$name_%%CASE%% $1 $2\\n";', 'try_files /nothing @named;'])} }`,
    server: 'location @named { return 200 "named $uri\\n"; }',
  })),
];

/** Other things on top. */
export const moreModifiers: readonly Feature[] = [
  feature('realip', (r) => ({
    [r.oneOf([
      'location',
      'server',
    ])]: `set_real_ip_from 127.0.0.1; real_ip_header ${r.oneOf(['X-Forwarded-For', 'X-Forwarded-For', 'proxy_protocol'])}; ${r.oneOf(['', 'real_ip_recursive on;'])} add_header X-Ip "$remote_addr $realip_remote_addr" always;`,
  })),
  feature('secure_link', (r) => ({
    location: `${r.oneOf(['secure_link $arg_x,2147483647; secure_link_md5 "$uri s";', 'secure_link $arg_x; secure_link_md5 "s";'])} add_header X-Secure "$secure_link $secure_link_expires"; ${r.oneOf(['', 'if ($secure_link = "") { return 403; }'])}`,
  })),
  feature('choices', (r) => ({
    http: r.oneOf([
      'split_clients "$uri$arg_x" $choice_%%CASE%% { 30% a; 0.5% b; * c; }',
      'geo $arg_x $choice_%%CASE%% { default none; 127.0.0.0/8 own; 10.0.0.0/8 ten; }',
      'geo $choice_%%CASE%% { ranges; default none; 127.0.0.1-127.0.0.9 near; }',
      'map $http_user_agent $choice_%%CASE%% { default none; ~*COMP(.*) "ua $1"; volatile; }',
    ]),
    location: `add_header X-Choice $choice_%%CASE%% always; ${r.oneOf(['', 'if ($choice_%%CASE%% = none) { return 403 "none\\n"; }', 'limit_rate $choice_%%CASE%%;'])}`,
  })),
  feature('referer', (r) => ({
    location: `valid_referers ${r.oneOf(['none *.test', 'none blocked other.test', 'server_names ~\\.test'])}; if ($invalid_referer) { return 403; }`,
  })),
  feature('satisfy', (r) => ({
    location: `satisfy ${r.oneOf(['any', 'all'])}; ${r.oneOf(['deny all;', 'allow all;'])} auth_basic ${r.oneOf(['closed', '$arg_x'])}; auth_basic_user_file %%DIR%%/users;`,
  })),
  feature('gzip_static', (r) => ({
    location: `gzip_static ${r.oneOf(['on', 'always'])}; ${r.oneOf(['', 'gunzip on;', 'gzip_vary on;'])}`,
  })),
  feature('limits', (r) => ({
    location: r.oneOf([
      'limit_req zone=few; limit_req_dry_run on; add_header X-Limit "$limit_req_status" always;',
      'limit_conn one 1; limit_conn_dry_run on; add_header X-Limit "$limit_conn_status" always;',
      'limit_req zone=few burst=5 delay=2; limit_req_status 429; limit_req_log_level warn;',
    ]),
  })),
  feature('charset', (r) => ({
    location: `charset ${r.oneOf(['utf-8', 'koi8-r', '$arg_x'])}; source_charset ${r.oneOf(['koi8-r', 'windows-1251'])}; override_charset on; charset_types *;`,
  })),
  feature('headers_inherit', (r) => ({
    server: 'add_header X-Outer "outer $uri" always; add_trailer X-Trailer outer; expires 1h;',
    location: r.oneOf(['add_header_inherit merge; add_header X-Inner inner;', 'add_header_inherit off;', 'add_header X-Inner inner;']),
  })),
  feature('files', (r) => ({
    location: r.oneOf([
      'open_file_cache max=100 inactive=20s; open_file_cache_errors on;',
      'disable_symlinks on;',
      'directio 100;',
      'aio threads; sendfile on;',
      'log_not_found off;',
      'sendfile_max_chunk 1k; sendfile on;',
      'read_ahead 1k;',
      'subrequest_output_buffer_size 16;',
      'postpone_output 0;',
      'if_modified_since exact; etag off;',
    ]),
  })),
  feature('cgi', (r) => ({
    location: r.oneOf([
      'fastcgi_split_path_info ^(/at/[^.]*\\.[a-z]+)(.*)$; fastcgi_param PATH_INFO $fastcgi_path_info; fastcgi_param SCRIPT $fastcgi_script_name;',
      'fastcgi_index index.php; fastcgi_param HTTPS $https if_not_empty; fastcgi_param EMPTY $arg_none if_not_empty;',
      'fastcgi_keep_conn on; fastcgi_buffer_size 256; fastcgi_buffers 4 256; fastcgi_busy_buffers_size 256;',
      'fastcgi_pass_request_body off; uwsgi_pass_request_body off; scgi_pass_request_body off;',
      'fastcgi_pass_request_headers off; uwsgi_pass_request_headers off; scgi_pass_request_headers off;',
      'fastcgi_hide_header X-Own; uwsgi_hide_header X-Own; scgi_hide_header X-Own; uwsgi_modifier1 9; uwsgi_modifier2 7; uwsgi_string x; uwsgi_param X "$uri" if_not_empty;',
      'fastcgi_ignore_headers X-Accel-Redirect Expires; uwsgi_ignore_headers X-Accel-Redirect; scgi_ignore_headers X-Accel-Redirect;',
      'fastcgi_force_ranges on; uwsgi_force_ranges on; scgi_force_ranges on;',
      'fastcgi_limit_rate 0; uwsgi_next_upstream http_404 http_500; scgi_next_upstream http_404; fastcgi_catch_stderr x;',
      'fastcgi_socket_keepalive on; fastcgi_ignore_client_abort on; scgi_ignore_client_abort on; uwsgi_ignore_client_abort on;',
    ]),
  })),
  feature('ssi', (r) => ({
    location: `ssi on; ssi_types *; error_page 404 ${r.oneOf(['/ssi.html', '=200 /ssi.html', '/ssi.html?x=1'])};`,
    server: 'location = /ssi.html { root %%DIR%%/html; ssi on; }\nlocation = /included { proxy_pass http://%%GROUP%%/included; }',
  })),
  feature('error_page_two', (r) => ({
    server: `error_page 404 = @first; recursive_error_pages on; location @first { ${r.oneOf(['error_page 404 403 = @second;', ''])} proxy_intercept_errors on; proxy_pass http://%%GROUP%%; } location @second { return 410 "second $uri\\n"; }`,
  })),
  feature('mirror_two', () => ({
    location: 'mirror /mirror-one; mirror /mirror-two;',
    server: 'location ~ ^/mirror-(one|two)$ { internal; proxy_pass http://%%GROUP%%/mirror-$1; }',
  })),
  feature('early_hints_if', (r) => ({ location: `early_hints ${r.oneOf(['$arg_x', '$http2', '$http_x_own'])}; proxy_pass_header Link;` })),
  feature('store', (r) => ({
    location: `${r.oneOf(['fastcgi', 'uwsgi', 'scgi'])}_store %%DIR%%/store/%%CASE%%-$host-$request_method;`,
  })),
];
