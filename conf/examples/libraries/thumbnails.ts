import sharp from 'sharp';
import type { HttpRequest } from 'sluice/types';

/** Makes a small WebP of the image that the location @original has. `proxy_cache` in front keeps it. */
async function small(r: HttpRequest): Promise<void> {
  const width = Math.min(Number(r.args.width) || 200, 1000);
  const original = await r.subrequest(`/original${r.uri}`);
  if (original.status !== 200) {
    return r.return(original.status);
  }
  const image = await sharp(original.responseBuffer).resize({ width, withoutEnlargement: true }).webp().toBuffer();
  r.headersOut['Content-Type'] = 'image/webp';
  r.return(200, image);
}

export default { small };
