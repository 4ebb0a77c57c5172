// CPU time of `-t` for large configurations, of sluice beside nginx by turns; the least of the rounds counts.
//
//   node scripts/bench/checks.mjs [ROW ...] [--rounds N] [--nginx PATH]
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { commands, workFolder } from './servers.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { nginx: { type: 'string', default: 'nginx' }, rounds: { type: 'string', default: '5' } },
});
/** @type {(n: number, make: (i: number) => string) => string} */
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join('\n');
const hex = (/** @type {number} */ number) => number.toString(16);

/** What a server of a real configuration has, in eight directives of its own and four locations. */
const site = (/** @type {number} */ i) => `server {
  listen 127.0.0.1:8080; server_name site${i}.example.com www.site${i}.example.com;
  root /srv/www/site${i}/public; index index.html index.php; client_max_body_size 20m; gzip on; gzip_types text/css application/javascript;
  add_header X-Frame-Options SAMEORIGIN always; error_page 404 /404.html;
  if ($host != site${i}.example.com) { return 301 http://site${i}.example.com$request_uri; }
  location / { try_files $uri $uri/ /index.php?$args; }
  location ~* \\.(?:css|js|png|jpg|svg|woff2)$ { expires 30d; access_log off; add_header Cache-Control "public, max-age=2592000"; }
  location ~ ^/index\\.php(/|$) { fastcgi_pass 127.0.0.1:9000; fastcgi_split_path_info ^(.+\\.php)(/.*)$;
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_param PATH_INFO $fastcgi_path_info; fastcgi_param HTTPS off; }
  location /api/ { proxy_pass http://127.0.0.1:${3000 + (i % 100)}; proxy_http_version 1.1; proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_read_timeout 90s; }
}`;

const geo = (/** @type {string} */ entries, first = '') =>
  `geo $found { ${first} default none; ${entries} } server { listen 127.0.0.1:8080; }`;
const GEO_ENTRIES = 200_000;

/**
 * What stands in `http`; `goal`: of nginx's time.
 * @type {Record<string, { goal?: number, http: () => string }>}
 */
const rows = {
  empty: { http: () => '' },
  sites: { goal: 1.3, http: () => times(2900, site) },
  locations: {
    goal: 1.5,
    http: () =>
      times(
        2400,
        (i) => `server { listen 127.0.0.1:8080; server_name name${i}.example.com www.name${i}.example.com; root /srv/www/name${i};
  ${times(20, (k) => `location /folder${k}/ { expires 1d; add_header X-Folder "folder ${k} of ${i}"; try_files $uri /index.html; }`)} }`,
      ),
  },
  map: {
    goal: 1.5,
    http: () => `map_hash_max_size 262144; map $host $found { default none; ${times(115_000, (i) => `name${i}.example.com value${i % 100};`)} }
server { listen 127.0.0.1:8080; }`,
  },
  geo4: { goal: 1.5, http: () => geo(times(GEO_ENTRIES, (i) => `${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.0/24 value${i % 100};`)) },
  geo6: {
    goal: 1.5,
    http: () => geo(times(GEO_ENTRIES, (i) => `2001:db8:${hex(1 + (i >> 16))}:${hex(i & 0xffff)}::/64 value${i % 100};`)),
  },
  ranges: {
    goal: 1.5,
    http: () =>
      geo(
        times(GEO_ENTRIES, (i) => {
          const network = `${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
          return `${network}.0-${network}.127 value${i % 100};`;
        }),
        'ranges;',
      ),
  },
};

const unknown = positionals.filter((name) => !(name in rows));
if (unknown.length > 0) {
  throw new Error(`no such row: ${unknown.join(', ')} (${Object.keys(rows).join(', ')})`);
}
const work = workFolder();
for (const [name, { goal, http }] of Object.entries(rows)) {
  if (positionals.length > 0 && !positionals.includes(name)) {
    continue;
  }
  const dir = `${work}/${name}`;
  mkdirSync(`${dir}/logs`, { recursive: true });
  const text = `pid ${dir}/pid; error_log ${dir}/error.log; events {} http { access_log off; server_names_hash_max_size 65536;\n${http()}\n}`;
  writeFileSync(`${dir}/server.conf`, text);
  /** @type {Record<string, number>} */
  const least = {};
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [server, [file, ...args]] of Object.entries(commands(options.nginx))) {
      const used = childSeconds(/** @type {string} */ (file), [...args, '-t', '-p', `${dir}/`, '-c', 'server.conf']);
      least[server] = Math.min(least[server] ?? used, used);
    }
  }
  const { nginx, sluice } = least;
  const beside = nginx === undefined ? '' : `, nginx ${nginx.toFixed(2)}: ${(sluice / nginx).toFixed(2)} times`;
  const most = nginx === undefined ? '' : atMost({ value: sluice / nginx, goal });
  console.log(`-t of ${name}, ${(text.length / 1024 / 1024).toFixed(1)} MB: ${sluice.toFixed(2)} s of CPU${beside}${most}`);
}
process.exit(0);

/**
 * @param {string} file
 * @param {readonly string[]} args
 */
function childSeconds(file, args) {
  const { status, stdout } = spawnSync('bash', ['-c', 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>&1', 'bash', file, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new Error(`${file} ${args.join(' ')} failed`);
  }
  const [user = 0, system = 0] = stdout.trim().split(' ').map(Number);
  return user + system;
}
