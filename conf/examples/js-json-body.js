/** Names of members whose values nobody outside may see. */
const secret = new Set(['password', 'token', 'email']);
/** Characters of a body that are held at most; a longer one is passed on as it is. */
const most = 1024 * 1024;

const bodies = new WeakMap();

const isJson = (r) => /^application\/(?:[\w.-]+\+)?json\b/.test(r.headersOut['Content-Type'] ?? '');

/** The length of the body is about to change. */
function head(r) {
  if (isJson(r)) {
    delete r.headersOut['Content-Length'];
    delete r.headersOut.ETag;
  }
}

/** Holds the body until it is whole, and masks what is secret in it. */
function body(r, data, flags) {
  if (!isJson(r)) {
    r.sendBuffer(data, flags);
    r.done();
    return;
  }
  const text = (bodies.get(r) ?? '') + data;
  if (!flags.last && text.length <= most) {
    bodies.set(r, text);
    return;
  }
  bodies.delete(r);
  if (!flags.last) {
    r.warn('the body is too long to be masked');
    r.sendBuffer(text, flags);
    r.done();
    return;
  }
  r.sendBuffer(masked(r, text), flags);
}

function masked(r, text) {
  try {
    return JSON.stringify(JSON.parse(text, (name, value) => (secret.has(name) ? '***' : value)));
  } catch (error) {
    r.warn(`the body is no JSON: ${error.message}`);
    return text;
  }
}

export default { head, body };
