import { createHash } from 'node:crypto';
import { type FilmParts, filmFile } from '../support/film.js';
import { pixelMap } from '../support/pictures.js';
import type { Files } from '../support/prefix.js';
import { type Feature, feature } from './feature.js';

const SECRET = 'a secret word';

/** Where `secure_link_secret` lets in. */
export const SECRET_LINK = `/at/${createHash('md5').update(`file.txt${SECRET}`).digest('hex')}/file.txt`;

/** Two seconds of film: eight pictures, two in each chunk. */
const FILM: FilmParts = {
  timescale: 600,
  duration: 1200,
  tracks: [
    {
      timescale: 1000,
      duration: 2000,
      filmDuration: 1200,
      kind: 'vmhd',
      times: [[8, 250]],
      keyFrames: [1, 5],
      chunks: [[1, 2, 1]],
      sizes: [10, 11, 12, 13, 14, 15, 16, 17],
      places: [0, 21, 46, 75],
    },
  ],
  samples: Buffer.from(Array.from({ length: 108 }, (_, i) => 65 + (i % 26))),
};

/** A picture that is no larger than anybody wants it. */
export const PICTURE = pixelMap(3, 2);

/** Files for what follows. */
export const rareFiles: Files = {
  'html/at/film.mp4': filmFile(FILM),
  'html/at/clip.flv': 'FLV\x01\x05\0\0\0\x09 of a clip 0123456789',
  'html/at/picture.png': PICTURE,
  'html/at/one/only.txt': 'the only file\n',
  'html/at/folder/a b&<c>.txt': 'a name with letters that mean something\n',
};

/** Content of files in other ways. */
export const fileHandlers: readonly Feature[] = [
  feature('autoindex', (r) => ({
    location: `index none; autoindex on; autoindex_format ${r.oneOf(['html', 'json', 'jsonp', 'xml'])}; autoindex_exact_size ${r.oneOf(['on', 'off'])}; autoindex_localtime ${r.oneOf(['on', 'off'])};`,
  })),
  feature('random_index', (r) => ({ location: `location /at/one/ { random_index on; ${r.oneOf(['', 'index none;'])} }` })),
  feature('films', (r) => ({
    location: r.oneOf([
      'mp4;',
      'mp4; mp4_start_key_frame on;',
      'mp4; mp4_buffer_size 512; mp4_max_buffer_size 1k;',
      'mp4; mp4_max_buffer_size 512;',
      'flv;',
      'flv; sendfile on;',
      'mp4; aio threads; directio 1;',
    ]),
  })),
  feature('secure_link', (r) => ({
    location: `secure_link_secret "${SECRET}"; ${r.oneOf(['if ($secure_link = "") { return 403 "no link\\n"; } rewrite ^ /at/$secure_link break;', 'if ($secure_link) { rewrite ^ /at/$secure_link break; }', 'add_header X-Link "$secure_link" always;'])}`,
  })),
  feature('dav', (r) => ({
    location: `dav_methods ${r.oneOf(['PUT DELETE MKCOL COPY MOVE', 'PUT', 'off', 'MKCOL DELETE'])}; dav_access ${r.oneOf(['user:rw', 'group:rw all:r', 'user:r'])}; create_full_put_path ${r.oneOf(['on', 'on', 'off'])}; min_delete_depth ${r.oneOf([0, 3])}; alias %%DIR%%/dav/$host/; ${r.oneOf(['', 'autoindex on;', 'client_body_temp_path %%DIR%%/dav 1;'])}`,
  })),
];

/** What files and pictures can have on top. */
export const fileModifiers: readonly Feature[] = [
  feature('image_filter', (r) => ({
    location: `image_filter ${r.oneOf(['test', 'size', 'resize 100 100', 'crop 50 -', 'off', 'resize $arg_x -'])}; ${r.oneOf(['', 'image_filter_buffer 10;', 'image_filter_buffer 1k; image_filter_interlace on;'])}`,
  })),
  feature('gzip', (r) => ({
    location: `gzip on; gzip_min_length ${r.oneOf([0, 30])}; ${r.oneOf(['gzip_types text/plain;', 'gzip_types text/plain application/octet-stream;', 'gzip_types *;', ''])} ${r.oneOf(
      [
        '',
        'gzip_disable msie6;',
        'gzip_disable "Gecko" "compare";',
        'gzip_proxied expired no-cache no-store private;',
        'gzip_proxied no_last_modified no_etag;',
        'gzip_proxied auth;',
        'gzip_proxied any; gzip_disable msie6; gzip_vary on;',
      ],
    )} ${r.oneOf(['', 'gzip_buffers 2 256; gzip_comp_level 9;', 'postpone_gzipping 100;', 'gzip_window 1k; gzip_hash 4k;', 'gzip_no_buffer on;', 'gunzip on; gunzip_buffers 2 256;'])}`,
  })),
  feature('gzip_static', (r) => ({
    location: `gzip_static ${r.oneOf(['on', 'always'])}; ${r.oneOf(['gzip_proxied off;', 'gzip_proxied auth no_etag; gzip_vary on;', 'gzip_disable msie6;', 'gzip_http_version 1.0;', 'gunzip on; gzip_vary on;', 'gzip on; gzip_types *;'])}`,
  })),
  feature('expires', (r) => ({
    location: r.oneOf([
      'expires -1;',
      'expires 0;',
      'expires max;',
      'expires off;',
      'expires $arg_x;',
      'expires modified -1h;',
      'expires modified +0;',
      'expires 1h; add_header Cache-Control public;',
      'expires 1d; add_header Last-Modified "";',
      'add_header Last-Modified $arg_x; add_header ETag "" always;',
    ]),
  })),
  feature('trailer', (r) => ({
    server: 'add_trailer X-Trailer "outer $status" always; add_header X-Outer $request_method;',
    location: r.oneOf([
      'add_trailer_inherit merge; add_trailer X-Inner "$sent_http_content_type";',
      'add_trailer_inherit off;',
      'add_trailer X-Trailer "$upstream_trailer_x_trailer $arg_x";',
      'add_trailer X-Empty "" always; add_header_inherit merge; add_header X-Empty "" always;',
    ]),
  })),
];
