// What the rows about JavaScript run, here and in njs, whose own engine knows no destructuring. njs runs a module's outermost code anew
// for each request: so there is none that costs anything.
// biome-ignore lint/style/useNodejsImportProtocol: njs knows the short name alone.
import crypto from 'crypto';

function small(r) {
  r.return(200, 'ok');
}

function json(r) {
  const made = [];
  for (let id = 0; id < 1000; id++) {
    made.push({ id, name: `item ${id}`, tags: ['one', 'two'], price: id * 1.5, text: 'some text of it' });
  }
  const items = JSON.parse(JSON.stringify({ items: made })).items;
  r.return(200, JSON.stringify({ count: items.length, sum: items.reduce((sum, item) => sum + item.price, 0) }));
}

function jwt(r) {
  const parts = r.headersIn.Authorization.slice('Bearer '.length).split('.');
  const claims = JSON.parse(Buffer.from(parts[1], 'base64url').toString());
  const signature = crypto.createHmac('sha256', 'a secret of at least 32 characters').update(`${parts[0]}.${parts[1]}`).digest('base64url');
  r.return(signature === parts[2] && claims.exp * 1000 > Date.now() ? 200 : 401, claims.sub);
}

async function rs256(r) {
  const parts = (r.args.t || r.headersIn.Authorization.slice('Bearer '.length)).split('.');
  const subtle = globalThis.crypto.subtle;
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const key = await subtle.importKey('jwk', globalThis.jwks.keys[0], algorithm, false, ['verify']);
  const right = await subtle.verify(algorithm, key, Buffer.from(parts[2], 'base64url'), Buffer.from(`${parts[0]}.${parts[1]}`));
  const claims = JSON.parse(Buffer.from(parts[1], 'base64url').toString());
  r.return(right && claims.exp * 1000 > Date.now() ? 200 : 401, 'ok');
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function template(r) {
  const items = [];
  for (let i = 0; i < 200; i++) {
    items.push(`<li>${`word <${i}> & more`.replace(/[&<>]/g, (found) => escapes[found])}</li>`);
  }
  r.return(200, `<!DOCTYPE html><title>words</title><ul>${items.join('\n')}</ul>`);
}

function busy(r) {
  const until = Date.now() + 300;
  while (Date.now() < until) {
    // It computes.
  }
  r.return(200, 'ok');
}

function value(r) {
  return r.uri;
}

export default { small, json, jwt, rs256, template, busy, value };
