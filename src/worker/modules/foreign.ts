import { ownValue } from '../../shared/collection/own-value.js';
import type { ForeignDirective, NativeModule } from '../../shared/config/foreign.js';
import { missing } from './missing.js';
import { moreForeign } from './more-foreign.js';
import { otherProducts } from './other-products.js';

/** A module that nginx loads and sluice does not, with what is known of it. */
export interface ForeignModule {
  /** What people call it. */
  readonly name: string;
  /** The product is a program of its own, and no module for nginx. */
  readonly product?: true;
  /** Names of the files that hold it, without `.so`. */
  readonly objects: readonly string[];
  /** The product's directives. */
  readonly directives: RegExp;
  /** What does the same here, as a sentence's second half; by directive where several do different things. */
  readonly instead?: string | ((directive: string) => string);
}

/** The modules of others that configurations use most. Their directives are unknown here, and told by this table. */
const foreignModules: readonly ForeignModule[] = [
  {
    name: 'Lua (OpenResty)',
    objects: ['ngx_http_lua_module', 'ngx_stream_lua_module'],
    directives: /_by_lua(_block|_file)?$|^lua_|^rewrite_by_lua_no_postpone$|^access_by_lua_no_postpone$/,
    instead:
      '`js_init`, `js_rewrite`, `js_access`, `js_content`, `js_set`, `js_balancer`, `js_header_filter`, `js_body_filter`, `js_log`, `js_client_hello` and `js_ssl_certificate` run JavaScript at the same places (docs/guides/from-openresty.md), and `map`, `auth_request` and `sub_filter` do the usual things without',
  },
  {
    name: 'njs',
    objects: ['ngx_stream_js_module'],
    directives: /^js_(include|load_(http|stream)_native_module)$/,
    instead: 'its other directives, such as `js_import` and `js_content`, are there; modules are JavaScript for Node.js',
  },
  {
    name: 'headers-more',
    objects: ['ngx_http_headers_more_filter_module'],
    directives: /^more_(set|clear)_(input_)?headers$/,
    instead: (directive) =>
      ({
        more_set_headers: '`add_header NAME VALUE always` does the same, with `proxy_hide_header NAME` where the backend sends one too',
        more_clear_headers: '`proxy_hide_header NAME` keeps a header of the backend back, `server_tokens off` the version',
        more_set_input_headers: '`proxy_set_header NAME VALUE` does the same for backends',
        more_clear_input_headers: '`proxy_set_header NAME ""` does the same for backends',
      })[directive] ?? '',
  },
  {
    name: 'echo',
    objects: ['ngx_http_echo_module'],
    directives: /^echo(_.*)?$/,
    instead: '`return 200 "text"` sends a text, `add_before_body` and `add_after_body` put one around a response',
  },
  {
    name: 'vts (virtual host traffic status)',
    objects: ['ngx_http_vhost_traffic_status_module', 'ngx_http_stream_server_traffic_status_module'],
    directives: /^vhost_traffic_status(_.*)?$/,
    instead: '`sluice_status` counts connections, requests, zones and backends, as JSON and for Prometheus',
  },
  {
    name: 'ModSecurity',
    objects: ['ngx_http_modsecurity_module'],
    directives: /^modsecurity(_.*)?$/,
    instead:
      'nothing here reads such rules: `limit_req`, `deny` and `map` with `return 403` do the simple ones, a firewall in front the others',
  },
  {
    name: 'geoip2',
    objects: ['ngx_http_geoip2_module', 'ngx_stream_geoip2_module'],
    directives: /^geoip2(_.*)?$/,
    instead:
      '`geo $variable { include FILE; }` does the same with a list of networks, which the data base is also published as (CSV), and `geoip_country FILE` with a database of the old form (.dat)',
  },
  {
    name: 'rtmp',
    objects: ['ngx_rtmp_module'],
    directives: /^(rtmp|rtmp_.*)$/,
    instead: 'RTMP is not spoken here; a media server does that, and sluice serves the HLS or DASH files it writes',
  },
  {
    name: 'nchan',
    objects: ['ngx_nchan_module'],
    directives: /^(nchan_.*|push_(stream|publisher|subscriber|channel|store|min_|max_|delete_|authorized_|message_).*)$/,
    instead: 'an application behind `proxy_pass` that speaks WebSocket or server-sent events does the same',
  },
  {
    name: 'auth_pam',
    objects: ['ngx_http_auth_pam_module'],
    directives: /^auth_pam(_.*)?$/,
    instead: '`auth_basic` reads password files, `auth_request` asks a service of yours',
  },
  {
    name: 'auth_ldap',
    objects: ['ngx_http_auth_ldap_module'],
    directives: /^auth_ldap(_.*)?$|^ldap_server$/,
    instead: '`auth_request` asks a service of yours that speaks LDAP',
  },
  {
    name: 'dav-ext',
    objects: ['ngx_http_dav_ext_module'],
    directives: /^dav_ext_(methods|lock|lock_zone)$/,
    instead: '`dav_methods` has PUT, DELETE, MKCOL, COPY and MOVE; a WebDAV server behind `proxy_pass` has PROPFIND, OPTIONS and locks',
  },
  {
    name: 'fancyindex',
    objects: ['ngx_http_fancyindex_module'],
    directives: /^fancyindex(_.*)?$/,
    instead: '`autoindex on` lists folders, `autoindex_format json` for a page of your own, `add_before_body` puts a head above',
  },
  {
    name: 'substitutions (subs_filter)',
    objects: ['ngx_http_subs_filter_module'],
    directives: /^subs_(filter|buffers|filter_types|filter_bypass|line_buffer_size)$/,
    instead: '`sub_filter` replaces fixed texts, any number of them with `sub_filter_once off`',
  },
  {
    name: 'uploadprogress',
    objects: ['ngx_http_uploadprogress_module'],
    directives: /^(upload_progress(_.*)?|track_uploads|report_uploads)$/,
    instead: 'browsers report the progress of an upload themselves (`XMLHttpRequest.upload`)',
  },
  {
    name: 'upstream-fair',
    objects: ['ngx_http_upstream_fair_module'],
    directives: /^(fair|upstream_fair_shm_size)$/,
    instead: '`least_conn` or `least_time header` does the same',
  },
  {
    name: 'upstream_check',
    objects: ['ngx_http_upstream_check_module'],
    directives: /^check(_.*)?$/,
    instead: '`health_check` does the same',
  },
  {
    name: 'set-misc',
    objects: ['ngx_http_set_misc_module'],
    directives:
      /^set_(if_empty|quote_\w+|unescape_uri|escape_uri|hashed_upstream|\w+_base(16|32|32hex|64|64url)|md5|sha1|hmac_\w+|random|secure_random_\w+|rotate|local_today|formatted_\w+)$/,
    instead: '`map` makes a value of another, `secure_link_md5` and `$request_id` give digests and random text',
  },
  {
    name: 'Passenger',
    objects: ['ngx_http_passenger_module'],
    directives: /^passenger_/,
    instead: '`proxy_pass` to the application does the same',
  },
  {
    name: 'PageSpeed',
    objects: ['ngx_pagespeed'],
    directives: /^pagespeed(_.*)?$/,
    instead: '`gzip`, `brotli` and `expires` do a part of it',
  },
  {
    name: 'naxsi',
    objects: ['ngx_http_naxsi_module'],
    directives: /^(naxsi_.*|BasicRule|MainRule|CheckRule|SecRulesEnabled|SecRulesDisabled|LearningMode|DeniedUrl)$/,
  },
  { name: 'the development kit', objects: ['ndk_http_module'], directives: /^(?!)/ },
  ...otherProducts,
  ...moreForeign,
];

/** Modules that are built in, by the files that hold them. */
const builtIn = new Set([
  'ngx_http_acme_module',
  'ngx_otel_module',
  'ngx_http_brotli_filter_module',
  'ngx_http_brotli_static_module',
  'ngx_http_cache_purge_module',
  'ngx_http_geoip_module',
  'ngx_http_image_filter_module',
  'ngx_http_js_module',
  'ngx_http_zstd_filter_module',
  'ngx_http_zstd_static_module',
  'ngx_stream_geoip_module',
]);

/** The block of the mail proxy, whose directives are not in the table of what is missing. */
const MAIL = 'mail';

/** nginx's own modules that can be files, with the modules of the table {@link missing} that they hold. */
const ownObjects: Readonly<Record<string, RegExp>> = {
  ngx_http_xslt_filter_module: /^ngx_http_xslt_filter_module$/,
  ngx_http_perl_module: /^ngx_http_perl_module$/,
  ngx_stream_module: /^ngx_stream$/,
  ngx_mail_module: /^ngx_mail$/,
};

/** The module of nginx whose directive this is, where that is not there. */
export const missingModule = (directive: string): string | undefined =>
  directive === MAIL ? 'ngx_mail_module' : Object.entries(missing).find(([, names]) => names.includes(directive))?.[0];

/** What takes the place of a directive of nginx that is missing; empty where nothing does. */
export const missingInstead = (directive: string): string =>
  directive === MAIL
    ? 'a `server` of `stream` passes IMAP, POP3 and SMTP on to a mail server: `listen 993 ssl` takes TLS off, `proxy_ssl` puts it on, and ' +
      '`proxy_protocol` names the client; to choose the server by login (`auth_http`) and `starttls` need a mail proxy'
    : '';

/** What is known of a module by the name of its file without `.so`; undefined for a module that is not known. */
export function nativeModule(object: string): NativeModule | undefined {
  if (builtIn.has(object)) {
    return { builtIn: true, has: () => false };
  }
  const foreign = foreignModules.find(({ objects }) => objects.includes(object));
  if (foreign !== undefined) {
    return { builtIn: false, has: (directive) => foreign.directives.test(directive) };
  }
  const parts = ownValue(ownObjects, object);
  if (parts === undefined) {
    return undefined;
  }
  const names = Object.entries(missing).flatMap(([part, directives]) => (parts.test(part) ? directives : []));
  if (object === 'ngx_mail_module') {
    names.push(MAIL);
  }
  return { builtIn: names.length === 0 && object === 'ngx_stream_module', has: (directive) => names.includes(directive) };
}

/** The third-party module or product of a directive, and what does the same in sluice; undefined for an unknown directive. */
export function foreignDirective(directive: string): ForeignDirective | undefined {
  const found = foreignModules.find(({ directives }) => directives.test(directive));
  if (found === undefined) {
    return undefined;
  }
  const { name, instead = '', product = false } = found;
  return { module: name, product, instead: typeof instead === 'string' ? instead : instead(directive) };
}
