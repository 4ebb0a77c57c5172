/** The forms that the page has. */
export type Format = 'json' | 'prometheus' | 'openmetrics';

export const MEDIA_TYPES: { readonly [F in Format]: string } = {
  json: 'application/json',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** `format=` in the query decides, else what the client accepts: a scraper of metrics asks for one of their forms, and not for JSON. */
export function acceptedFormat(args: string, accept: string): Format {
  const asked = /(?:^|&)format=([^&]*)/.exec(args)?.[1];
  if (asked !== undefined) {
    return asked === 'prometheus' || asked === 'openmetrics' ? asked : 'json';
  }
  if (quality(accept, 'application/json') > 0) {
    return 'json';
  }
  const open = quality(accept, 'application/openmetrics-text');
  const plain = quality(accept, 'text/plain');
  if (open === 0 && plain === 0) {
    return 'json';
  }
  return open >= plain ? 'openmetrics' : 'prometheus';
}

/** How much a client wants a media type; 0 where it does not name it. */
function quality(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name === type) {
      const q = parameters.find((parameter) => parameter.startsWith('q='));
      return q === undefined ? 1 : Number(q.slice(2)) || 0;
    }
  }
  return 0;
}
