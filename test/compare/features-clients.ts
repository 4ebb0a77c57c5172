import { type Feature, feature } from './feature.js';

/** What depends on who the client is, and on how it and its connection are treated. */
export const clientModifiers: readonly Feature[] = [
  feature('browser', (r) => ({
    location: `${r.oneOf(['modern_browser msie 5.5; modern_browser gecko 1.0.0; modern_browser opera 9; modern_browser safari 413;', 'modern_browser unlisted; ancient_browser Links netscape4;', 'modern_browser unlisted; modern_browser gecko 1.8.1; ancient_browser "MSIE 6" compare;', 'ancient_browser Mozilla; modern_browser_value new; ancient_browser_value old; modern_browser konqueror 3;'])} add_header X-Browser "$modern_browser,$ancient_browser,$msie" always; ${r.oneOf(['', 'if ($ancient_browser) { return 403; }'])}`,
  })),
  feature('userid', (r) => ({
    [r.oneOf([
      'location',
      'location',
      'server',
    ])]: `userid ${r.oneOf(['on', 'v1', 'log', 'off'])}; ${r.oneOf(['', 'userid_name id;', 'userid_domain .test; userid_path /at;', 'userid_expires 1d; userid_p3p \'policyref="/w3c/p3p.xml", CP="CUR"\';', 'userid_expires max; userid_flags secure samesite=strict;', 'userid_mark A;', 'userid_mark =;', 'userid_service 7;'])} add_header X-Got "$uid_got" always; ${r.oneOf(['', 'add_header X-Set "$uid_set" always;', 'set $uid_reset $arg_x;', 'if ($uid_set) { return 403; }'])}`,
  })),
  feature('heads', (r) => ({
    server: r.oneOf([
      'large_client_header_buffers 4 512;',
      'large_client_header_buffers 1 512;',
      'large_client_header_buffers 2 1k; error_page 414 494 /error;',
      'client_header_buffer_size 64; large_client_header_buffers 4 1k;',
      'large_client_header_buffers 2 600; error_page 494 =200 /error;',
      'large_client_header_buffers 4 512; error_page 400 414 @failed;',
      'client_header_buffer_size 8k;',
    ]),
  })),
  feature('http2', (r) => ({
    location: r.oneOf(['http2_chunk_size 1;', 'http2_chunk_size 100;', 'http2_chunk_size 64k;']),
  })),
  feature('auth_basic', (r) => ({
    location: `auth_basic ${r.oneOf(['closed', '"with \\"quotes\\""', '$arg_x'])}; auth_basic_user_file ${r.oneOf(['%%DIR%%/users', '%%DIR%%/$arg_x', '%%DIR%%/nobody'])}; auth_delay ${r.oneOf([0, '1ms', '20ms'])}; ${r.oneOf(['', 'satisfy any; allow 127.0.0.1; deny all;', 'satisfy any; deny all;'])}`,
  })),
  feature('response', (r) => ({
    location: r.oneOf([
      'keepalive_disable msie6 safari;',
      'keepalive_disable safari; keepalive_min_timeout 1s;',
      'keepalive_timeout 75s 20s;',
      'keepalive_timeout 75s 0;',
      'keepalive_requests 2;',
      'msie_refresh on;',
      'msie_refresh on; msie_padding on; error_page 404 =302 http://other.test/"quoted"&x;',
      'msie_padding off;',
      'send_timeout 5m; tcp_nodelay off; tcp_nopush on; sendfile on;',
      'client_body_temp_path %%DIR%%/client_body_temp 1 2; client_body_buffer_size 4; client_body_in_file_only clean;',
      'output_buffers 2 16; sendfile off;',
      'max_ranges 2; chunked_transfer_encoding off;',
      'if_modified_since exact; add_header Last-Modified "Thu, 01 Jan 2015 00:00:00 GMT";',
      'types { text/html txt; text/x-"y" html; } charset utf-8; charset_types text/html;',
      'log_not_found off; access_log off; access_log %%DIR%%/access.log compare if=$arg_x;',
      'error_log %%DIR%%/error.log crit;',
    ]),
  })),
  feature('variables', (r) => ({
    location: `add_header X-Seen "${r.oneOf([
      '$request_body,$request_body_file,$content_length,$content_type',
      '$remote_user,$proxy_add_x_forwarded_for,$http_te,$http_upgrade',
      '$cookie_a,$arg_X,$args,$is_args,$query_string,$uri,$document_uri,$request_uri',
      '$document_root,$request_filename,$realpath_root,$server_addr,$server_name,$host,$http_host',
      '$sent_http_content_type,$sent_http_content_length,$sent_http_location,$status,$sent_http_etag',
      '$upstream_http_etag,$upstream_http_set_cookie,$upstream_cookie_a,$upstream_status,$upstream_addr,$upstream_http_x_empty',
      '$request,$request_method,$request_completion,$limit_rate,$connection_requests',
      '$invalid_referer,$secure_link,$slice_range,$realip_remote_addr,$gzip_ratio,$remote_addr',
      '$http_cookie,$http_x_own,$http_x_under,$http_user_agent,$http_via,$http_accept_encoding,$http_range',
    ])}" always;`,
  })),
];
