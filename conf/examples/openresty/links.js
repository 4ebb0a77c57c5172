/** What has come of the bodies of responses that are under way. */
const pieces = new WeakMap();

function head(r) {
  delete r.headersOut['Content-Length'];
  r.headersOut['X-Links'] = 'secure';
}

/** A word may stand in two pieces: all of them are put together. */
function body(r, data, flags) {
  const text = (pieces.get(r) ?? '') + data;
  if (!flags.last) {
    pieces.set(r, text);
    return;
  }
  r.sendBuffer(text.replaceAll('http://', 'https://'), flags);
}

export default { head, body };
