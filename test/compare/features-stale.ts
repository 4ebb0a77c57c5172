import type { Answer, Client, Field } from './case.js';
import { type Feature, feature } from './feature.js';
import { cgi } from './features.js';
import type { Random } from './random.js';

/** Content of a cache whose entries are out of date as soon as they are there: {@link staleAnswer} says so. */
export const staleHandlers: readonly Feature[] = [
  feature('stale', (r) => {
    const family = r.oneOf(['proxy', 'proxy', 'proxy', 'fastcgi', 'uwsgi', 'scgi']);
    const pass = family === 'proxy' ? 'proxy_pass http://%%GROUP%%;' : cgi(family);
    const settings = [
      r.oneOf([
        '',
        'use_stale updating;',
        'use_stale error http_500 http_503;',
        'use_stale updating error invalid_header http_404 http_500;',
      ]),
      r.oneOf(['', 'background_update on;', 'background_update on;']),
      r.oneOf(['', '', 'revalidate on;']),
      r.oneOf(['', '', 'lock on;', 'bypass $arg_x;', 'min_uses 2;', 'valid 404 1h;']),
    ].map((text) => (text === '' ? '' : `${family}_cache_${text}`));
    return {
      location: `${pass} ${family}_cache ${family}; ${family}_cache_key "$host$uri$is_args$args"; ${settings.join(' ')} add_header X-Cache "$upstream_cache_status $upstream_cache_last_modified $upstream_cache_etag" always;`,
    };
  }),
];

/** In the year 1970. */
const LONG_AGO: Field = ['X-Accel-Expires', '@1'];

/** What a backend answers that is out of date at once, and what it answers later. */
export function staleAnswer(random: Random, answer: Answer): Answer {
  const { raw: _raw, ...rest } = answer;
  const fields = answer.fields.filter(([name]) => !/^(x-accel-expires|x-accel-redirect|cache-control|expires|set-cookie)$/i.test(name));
  const allowed = random.oneOf<Field | undefined>([
    undefined,
    ['Cache-Control', 'stale-while-revalidate=2000000000'],
    ['Cache-Control', 'stale-if-error=2000000000'],
  ]);
  return {
    ...rest,
    status: random.oneOf([200, 200, 200, 200, 404, 301]),
    fields: [LONG_AGO, ...fields, ...(allowed === undefined ? [] : [allowed])],
    later: { status: random.oneOf([200, 200, 304, 404, 500, 503]), body: { ...answer.body, text: 'what it says later\n', times: 1 } },
  };
}

/** A client that asks two or three times for the same. */
export function askingAgain(random: Random, client: Client): Client {
  const { body: _body, ...first } = client.requests[0]!;
  const request = { ...first, method: random.oneOf(['GET', 'GET', 'GET', 'HEAD']), version: '1.1' as const };
  const plain = { ...request, method: 'GET', fields: [] };
  const { cancel: _cancel, waits: _waits, ...rest } = client;
  return {
    ...rest,
    requests: [random.once(2) ? plain : request, random.once(2) ? plain : request, ...(random.once(2) ? [request] : [])],
  };
}
