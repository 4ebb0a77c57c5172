/** nginx's directives that are not there, by nginx's modules. Made by test/meta/directives.test.ts. */
export const missing: Readonly<Record<string, readonly string[]>> = {
  // biome-ignore format: one line a module
  ngx_devpoll_module: ['devpoll_changes', 'devpoll_events'],
  // biome-ignore format: one line a module
  ngx_epoll_module: ['epoll_events'],
  // biome-ignore format: one line a module
  ngx_event_quic_bpf: ['quic_bpf'],
  // biome-ignore format: one line a module
  ngx_eventport_module: ['eventport_events'],
  // biome-ignore format: one line a module
  ngx_google_perftools_module: ['google_perftools_profiles'],
  // biome-ignore format: one line a module
  ngx_http_core_module: ['client_body_early_read'],
  // biome-ignore format: one line a module
  ngx_http_degradation_module: ['degradation', 'degrade'],
  // biome-ignore format: one line a module
  ngx_http_flv_module: ['flv'],
  // biome-ignore format: one line a module
  ngx_http_geoip_module: ['geoip_city', 'geoip_country', 'geoip_org', 'geoip_proxy', 'geoip_proxy_recursive'],
  // biome-ignore format: one line a module
  ngx_http_grpc_module: ['grpc_bind', 'grpc_buffer_size', 'grpc_connect_timeout', 'grpc_hide_header', 'grpc_ignore_headers', 'grpc_intercept_errors', 'grpc_next_upstream', 'grpc_next_upstream_timeout', 'grpc_next_upstream_tries', 'grpc_pass', 'grpc_pass_header', 'grpc_read_timeout', 'grpc_send_timeout', 'grpc_set_header', 'grpc_socket_keepalive', 'grpc_socket_rcvbuf', 'grpc_socket_sndbuf', 'grpc_ssl_certificate', 'grpc_ssl_certificate_cache', 'grpc_ssl_certificate_key', 'grpc_ssl_ciphers', 'grpc_ssl_conf_command', 'grpc_ssl_crl', 'grpc_ssl_name', 'grpc_ssl_password_file', 'grpc_ssl_protocols', 'grpc_ssl_server_name', 'grpc_ssl_session_reuse', 'grpc_ssl_trusted_certificate', 'grpc_ssl_verify', 'grpc_ssl_verify_depth'],
  // biome-ignore format: one line a module
  ngx_http_image_filter_module: ['image_filter', 'image_filter_buffer', 'image_filter_interlace', 'image_filter_jpeg_quality', 'image_filter_sharpen', 'image_filter_transparency', 'image_filter_webp_quality'],
  // biome-ignore format: one line a module
  ngx_http_mp4_module: ['mp4', 'mp4_buffer_size', 'mp4_max_buffer_size', 'mp4_start_key_frame'],
  // biome-ignore format: one line a module
  ngx_http_perl_module: ['perl', 'perl_modules', 'perl_require', 'perl_set'],
  // biome-ignore format: one line a module
  ngx_http_tunnel_module: ['tunnel_bind', 'tunnel_buffer_size', 'tunnel_connect_timeout', 'tunnel_next_upstream', 'tunnel_next_upstream_timeout', 'tunnel_next_upstream_tries', 'tunnel_pass', 'tunnel_read_timeout', 'tunnel_send_lowat', 'tunnel_send_timeout', 'tunnel_socket_keepalive', 'tunnel_socket_rcvbuf', 'tunnel_socket_sndbuf'],
  // biome-ignore format: one line a module
  ngx_http_xslt_filter_module: ['xml_entities', 'xml_external_entities', 'xslt_last_modified', 'xslt_param', 'xslt_string_param', 'xslt_stylesheet', 'xslt_types'],
  // biome-ignore format: one line a module
  ngx_iocp_module: ['acceptex_read', 'iocp_threads', 'post_acceptex'],
  // biome-ignore format: one line a module
  ngx_kqueue_module: ['kqueue_changes', 'kqueue_events'],
  // biome-ignore format: one line a module
  ngx_stream: ['stream'],
  // biome-ignore format: one line a module
  ngx_stream_core_module: ['preread_buffer_size', 'preread_timeout', 'proxy_protocol_timeout'],
  // biome-ignore format: one line a module
  ngx_stream_pass_module: ['pass'],
  // biome-ignore format: one line a module
  ngx_stream_proxy_module: ['proxy_download_rate', 'proxy_downstream_buffer', 'proxy_half_close', 'proxy_protocol', 'proxy_requests', 'proxy_responses', 'proxy_ssl', 'proxy_ssl_alpn', 'proxy_timeout', 'proxy_upload_rate', 'proxy_upstream_buffer'],
  // biome-ignore format: one line a module
  ngx_stream_ssl_module: ['ssl_alpn', 'ssl_handshake_timeout'],
  // biome-ignore format: one line a module
  ngx_stream_ssl_preread_module: ['ssl_preread'],
};
