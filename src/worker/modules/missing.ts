/** nginx's directives that are not there, by nginx's modules. Made by test/meta/directives.test.ts. */
export const missing: Readonly<Record<string, readonly string[]>> = {
  // biome-ignore format: one line a module
  ngx_devpoll_module: ['devpoll_changes', 'devpoll_events'],
  // biome-ignore format: one line a module
  ngx_epoll_module: ['epoll_events'],
  // biome-ignore format: one line a module
  ngx_eventport_module: ['eventport_events'],
  // biome-ignore format: one line a module
  ngx_google_perftools_module: ['google_perftools_profiles'],
  // biome-ignore format: one line a module
  ngx_http_degradation_module: ['degradation', 'degrade'],
  // biome-ignore format: one line a module
  ngx_http_perl_module: ['perl', 'perl_modules', 'perl_require', 'perl_set'],
  // biome-ignore format: one line a module
  ngx_http_xslt_filter_module: ['xml_entities', 'xml_external_entities', 'xslt_last_modified', 'xslt_param', 'xslt_string_param', 'xslt_stylesheet', 'xslt_types'],
  // biome-ignore format: one line a module
  ngx_iocp_module: ['acceptex_read', 'iocp_threads', 'post_acceptex'],
  // biome-ignore format: one line a module
  ngx_kqueue_module: ['kqueue_changes', 'kqueue_events'],
};
