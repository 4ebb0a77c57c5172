import type { ForeignModule } from './foreign.js';

/** What NGINX Plus and Angie have and nginx has not. Neither can be loaded as a file. */
export const otherProducts: readonly ForeignModule[] = [
  {
    name: 'NGINX Plus',
    product: true,
    objects: [],
    directives:
      /^(session_log(_.*)?|f4f(_buffer_size)?|hls(_(buffers|forward_args|fragment|mp4_buffer_size|mp4_max_buffer_size))?|mp4_limit_rate(_after)?|mgmt|license_token|usage_report|uuid_file|app_protect_.*|mqtt(_.*)?|queue|ntlm|upstream_conf|status(_format)?|sticky_cookie_insert|internal_redirect|num_map|proxy_session_drop|health_check_grpc)$/,
    instead: (directive) => plusInstead.find(([pattern]) => pattern.test(directive))?.[1] ?? '',
  },
  {
    name: 'Angie',
    product: true,
    objects: [],
    directives:
      /^(acme_(client|client_path|hook|dns_port|http_port)|acme|auto_redirect|docker_(endpoint|max_object_size)|metric(_zone|_complex_zone)?|upstream_probe(_timeout)?|sticky_(secret|strict)|backup_switch|bind_conn|feedback|response_time_factor|api_config_files|prometheus(_template)?|rdp_preread|(proxy_)?http3_.*|(proxy_)?quic_.*|client)$/,
    instead: (directive) => angieInstead.find(([pattern]) => pattern.test(directive))?.[1] ?? '',
  },
];

const plusInstead: readonly (readonly [RegExp, string])[] = [
  [/^status|^upstream_conf/, '`sluice_status`, `api` and `dashboard` show the counters, and `api write=on` changes backends'],
  [/^mp4_limit_rate/, '`limit_rate` and `limit_rate_after` limit the rate in bytes'],
  [/^session_log/, '`$request_id` and `access_log` with a `map` tell requests of one client together'],
  [/^hls|^f4f/, 'a packager that writes the segments as files does, which `root` then serves'],
  [/^sticky_cookie_insert/, '`sticky cookie NAME` does the same'],
  [/^queue/, '`proxy_next_upstream` and `max_conns` with a backup server do a part of it'],
  [/^internal_redirect/, '`rewrite ... last` and `error_page` lead to another location'],
  [/^app_protect_/, '`limit_req`, `deny` and `map` with `return 403` do the simple rules, a firewall in front the others'],
  [/^(mgmt|license_token|usage_report|uuid_file)$/, 'it needs no license: leave the line out'],
  [/^num_map/, '`map` with regular expressions does a part of it'],
];

const angieInstead: readonly (readonly [RegExp, string])[] = [
  [/^acme/, '`acme_issuer` and `acme_certificate` do the same'],
  [/^prometheus/, '`sluice_status` shows the counters for Prometheus'],
  [/^metric|^api_config_files/, '`status_zone`, `sluice_status` and `api` count and show'],
  [/^upstream_probe/, '`health_check` does the same'],
  [/^docker_/, '`server NAME resolve` follows names as Docker has them'],
  [/^auto_redirect/, '`rewrite` or `return 301` does the same'],
  [/^sticky_/, '`sticky` has its parameters in one line'],
  [/^feedback|^response_time_factor/, '`least_time` does a part of it'],
  [/http3|quic/, 'HTTP/3 is spoken with clients: `listen ... quic`'],
];
