/** Text of the files outside every root: no response may hold it. */
export const SECRET = 'THE SECRET';

/** What lies under the prefix: two roots, and files beside them that must not be reached. */
export const files: Readonly<Record<string, string>> = {
  'secret.txt': SECRET,
  'html/file.txt': 'the file',
  'html/admin/panel.txt': SECRET,
  'html/hook.php': SECRET,
  'html/.htpasswd': SECRET,
  'html/folder/index.html': 'the index',
  'html/kept/inner.txt': SECRET,
  'aliased/file.txt': 'the aliased file',
  'dav/file.txt': 'the dav file',
  'other/file.txt': "the other server's file",
  'other/only.txt': "the other server's own file",
};

/**
 * The configuration of the cases: `backend` is the port of the strict backend. The first server is what an application's usual one
 * looks like, mistakes that are often made included; the second is another site on the same port.
 */
export const configuration = (backend: number): string => `
events {}
http {
  access_log %%DIR%%/access.log;
  client_body_temp_path %%DIR%%/client_body_temp;
  proxy_temp_path %%DIR%%/proxy_temp;
  client_max_body_size 1000;
  client_header_buffer_size 1k;
  large_client_header_buffers 4 2k;
  max_headers 50;
  lingering_close always;
  lingering_timeout 2s;
  # Clients here close their side after the last byte.
  proxy_ignore_client_abort on;
  upstream backend { server 127.0.0.1:${backend} max_fails=0; keepalive 4; }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_read_timeout 5s;
  proxy_next_upstream off;
  proxy_buffer_size 1k;
  proxy_buffers 4 1k;
  max_ranges 5;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }

  server {
    listen 127.0.0.1:%%PORT_0%% default_server;
    server_name a.test;
    root %%DIR%%/html;

    location /p/ { proxy_pass http://backend; }
    location /stream/ { proxy_pass http://backend; proxy_request_buffering off; }
    location /decoded/ { proxy_pass http://backend/d/; }
    location /variable/ { proxy_pass http://backend$uri; }
    location /query/ { proxy_pass http://backend/q?x=$arg_x; }
    location /host/ { proxy_pass http://backend; proxy_set_header Connection ""; proxy_set_header Host $host; }
    location /http-host/ { proxy_pass http://backend; proxy_set_header Connection ""; proxy_set_header Host $http_host; }
    location /set/ {
      proxy_pass http://backend;
      proxy_set_header Connection "";
      proxy_set_header X-Uri $uri;
      proxy_set_header X-Arg $arg_x;
      proxy_set_header X-Client $http_x_client;
    }
    location /capture/ { location ~ ^/capture/(.*)$ { proxy_pass http://backend/c/$1; } }
    location /rewritten/ { rewrite ^/rewritten/(.*)$ /$1 break; proxy_pass http://backend; }
    location /rewritten-args/ { rewrite ^ /x?u=$uri? break; proxy_pass http://backend; }
    location /upgrade/ { proxy_pass http://backend; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; }
    location /method/ { proxy_pass http://backend; proxy_method $arg_m; }
    location /auth/ { auth_request /check; proxy_pass http://backend; }
    location = /check { internal; proxy_pass http://backend/check; proxy_pass_request_body off; proxy_set_header Connection ""; proxy_set_header Content-Length ""; }

    location /return-uri { return 302 http://a.test$uri; }
    location /return-arg { return 302 http://a.test/?x=$arg_x; }
    location /return-path { return 302 $uri; }
    location /basic/ { auth_basic $uri; auth_basic_user_file %%DIR%%/html/.htpasswd; }
    location /page/ { error_page 403 =301 http://a.test$uri; return 403; }
    location /charset/ { charset $uri; types { } default_type text/html; return 200 x; }
    location /back/ { proxy_pass http://backend; proxy_redirect http://backend/ http://a.test$uri/; proxy_cookie_path / $uri; }
    location /redirect/ { rewrite ^/redirect/(.*)$ /to/$1 redirect; }
    location /header-uri/ { add_header X-Uri $uri always; return 204; }
    location /header-arg { add_header X-Arg $arg_x always; return 204; }
    location /header-cookie { add_header Set-Cookie "lang=$cookie_lang" always; return 204; }
    location /text { default_type text/plain; return 200 "host=$host uri=$uri"; }

    location /admin { return 403; }
    location = /exact { return 403; }
    location ~ \\.php$ { return 403; }
    location ~ /\\.ht { deny all; }
    location /kept/ { internal; }
    location /alias { alias %%DIR%%/aliased; }
    location /off { alias %%DIR%%/aliased/; }
    location /off-try { alias %%DIR%%/aliased/; try_files $uri $uri/ =404; }
    location ~ ^/off-regex(.*)$ { alias %%DIR%%/aliased/$1; }
    location /dav/ {
      alias %%DIR%%/dav/;
      dav_methods PUT DELETE MKCOL COPY MOVE;
      client_body_temp_path %%DIR%%/dav_temp;
    }
    location /alias-slash/ { alias %%DIR%%/aliased/; }
    location /folder { }
  }

  server {
    listen 127.0.0.1:%%PORT_0%%;
    server_name b.test;
    root %%DIR%%/other;
    location /p/ { proxy_pass http://backend/other/; }
    location /text { return 200 "other host=$host"; }
  }
}
`;
