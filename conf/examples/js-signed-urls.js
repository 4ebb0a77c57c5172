import { createHmac, timingSafeEqual } from 'crypto';

const digest = (r, path, expires) => createHmac('sha256', r.variables.url_secret).update(`${path}\n${expires}`).digest('base64url');

/** Lets requests in whose address was signed and has not expired. */
function check(r) {
  const { expires = '', signature = '' } = r.args;
  const expected = Buffer.from(digest(r, r.uri, expires));
  const given = Buffer.from(String(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    r.return(403);
  } else if (Number(expires) < Date.now() / 1000) {
    r.return(410);
  }
}

/** Signs an address: `POST /sign?path=/downloads/a.zip&seconds=60`. */
function sign(r) {
  const { path, seconds = '3600' } = r.args;
  if (typeof path !== 'string' || !path.startsWith('/downloads/') || !/^\d{1,7}$/.test(seconds)) {
    r.return(400, 'path and seconds are wanted\n');
    return;
  }
  const expires = Math.floor(Date.now() / 1000) + Number(seconds);
  r.return(200, `${encodeURI(path)}?expires=${expires}&signature=${digest(r, path, expires)}\n`);
}

export default { check, sign };
